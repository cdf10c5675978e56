import { describe, expect, test } from "vitest";
import { jsonAnswer } from "./fake-engine.ts";
import { documentOf, errorOf, plainBody, useKit } from "./kit.ts";

const { engine, router, ask } = useKit();

describe("the breaker", () => {
  test("opens after five failures in a row and then answers without asking the engine", async () => {
    const fake = await engine(({ socket }) => void socket.resetAndDestroy());
    const target = await router(documentOf([fake]));
    for (let round = 0; round < 5; round += 1) expect((await ask(target, plainBody)).status).toBe(502);
    const got = await ask(target, plainBody);
    expect([got.status, errorOf(got.body).code, got.headers["retry-after"]]).toEqual([503, "no_endpoint", "5"]);
    expect(fake.requests).toHaveLength(5);
    expect(await target.metrics.registry.metrics()).toContain(
      'llmgw_endpoint_breaker_open{replica="r1",pool="none"} 1',
    );
  });

  test("is not opened by one client's bad request, however often it is sent", async () => {
    const fake = await engine(({ socket }) => void socket.write(jsonAnswer('{"error":{}}', 500)));
    const target = await router(documentOf([fake]));
    for (let round = 0; round < 8; round += 1) expect((await ask(target, plainBody)).status).toBe(500);
    expect(fake.requests).toHaveLength(8);
  });
});
