import { describe, expect, test } from "vitest";
import { chunk, event, streamHead } from "./fake-engine.ts";
import { documentOf, errorOf, plainBody, streamBody, useKit } from "./kit.ts";
import { waitFor } from "./test-router.ts";

const { engine, router, client, ask } = useKit();

describe("time limits", () => {
  test("an engine that never answers is a 504", async () => {
    const fake = await engine(() => undefined);
    const target = await router(documentOf([fake], { timeouts: { firstByteMs: 80, firstByteNonStreamMs: 80 } }));
    const got = await ask(target, streamBody);
    expect([got.status, errorOf(got.body).code]).toEqual([504, "upstream_timeout"]);
    await waitFor(() => fake.requests[0]?.socket.destroyed === true);
  });

  test("an engine that falls silent in its stream is cut off with the error event", async () => {
    const fake = await engine(({ socket }) => void socket.write(`${streamHead}${chunk(event("a"))}`));
    const target = await router(documentOf([fake], { timeouts: { idleMs: 80 } }));
    const got = await ask(target, streamBody);
    expect(got.body.toString()).toContain("stream_interrupted");
    expect(target.ends).toMatchObject([{ outcome: "timeout" }]);
  });

  test("an engine that only pings makes no progress", async () => {
    const fake = await engine(({ socket }) => {
      socket.write(`${streamHead}${chunk(event("a"))}`);
      const timer = setInterval(() => socket.write(chunk(": ping\n\n")), 10);
      socket.on("close", () => clearInterval(timer));
    });
    const target = await router(documentOf([fake], { timeouts: { idleMs: 5_000, progressMs: 120 } }));
    const got = await ask(target, streamBody);
    expect(got.body.toString()).toContain("stream_interrupted");
  });

  test("a place that does not come free within the wait is a 429 with Retry-After", async () => {
    const fake = await engine(() => undefined);
    const target = await router(documentOf([fake], { admission: { waitBudgetMs: 60 } }, [{ maxInflight: 1 }]));
    (await client(target)).post(plainBody);
    await waitFor(() => fake.requests.length === 1);
    const got = await ask(target, plainBody);
    expect([got.status, errorOf(got.body).code, got.headers["retry-after"]]).toEqual([429, "queue_timeout", "5"]);
    expect(got.headers["x-llmgw-reason"]).toBe("queue_timeout");
  });
});
