import { describe, expect, test } from "vitest";
import { chunk, done, event, lastChunk, streamHead } from "./fake-engine.ts";
import { answering, documentOf, errorOf, plainBody, streamBody, useKit } from "./kit.ts";
import { waitFor } from "./test-router.ts";

const { engine, router, client, ask } = useKit();

describe("endpoint states", () => {
  test("a draining endpoint gets nothing new, and its stream goes on to its end", async () => {
    let finish: () => void = () => undefined;
    const first = await engine(({ socket }) => {
      socket.write(`${streamHead}${chunk(event("a"))}`);
      finish = () => void socket.write(`${chunk(event("b", "stop") + done)}${lastChunk}`);
    });
    const second = await engine(answering);
    const target = await router(documentOf([first]));
    const streaming = await client(target);
    streaming.post(streamBody);
    await streaming.until((received) => received.includes('"a"'));
    await target.reload(documentOf([first, second], {}, [{ state: "draining" }]));
    for (let round = 0; round < 8; round += 1) expect((await ask(target, plainBody)).status).toBe(200);
    expect([first.requests.length, second.requests.length]).toEqual([1, 8]);
    expect(target.endpoint("r1").inflight).toBe(1);
    finish();
    expect((await streaming.answer()).isWhole).toBe(true);
    await waitFor(() => target.endpoint("r1").inflight === 0);
    await target.reload(documentOf([first], {}, [{ state: "draining" }]));
    const none = await ask(target, plainBody);
    expect([none.status, errorOf(none.body).code, none.headers["retry-after"]]).toEqual([503, "no_endpoint", "5"]);
  });

  test("a moving endpoint is used only when no serving one has room", async () => {
    const moving = await engine(answering);
    const serving = await engine(() => undefined);
    const target = await router(documentOf([moving, serving], {}, [{ state: "moving" }, { maxInflight: 2 }]));
    for (let count = 0; count < 2; count += 1) (await client(target)).post(plainBody);
    await waitFor(() => serving.requests.length === 2);
    expect(moving.requests).toHaveLength(0);
    expect((await ask(target, plainBody)).headers["x-llmgw-endpoint"]).toBe("r1");
  });

  test("an endpoint that was taken out of the table relays its streams to the end; its successor starts at 0", async () => {
    let finish: () => void = () => undefined;
    const first = await engine(({ socket }) => {
      socket.write(`${streamHead}${chunk(event("a"))}`);
      finish = () => void socket.write(`${chunk(event("b", "stop") + done)}${lastChunk}`);
    });
    const second = await engine(answering);
    const target = await router(documentOf([first]));
    const streaming = await client(target);
    streaming.post(streamBody);
    await streaming.until((received) => received.includes('"a"'));
    await target.reload(documentOf([second]));
    expect(target.endpoint("r1").inflight).toBe(0);
    finish();
    expect((await streaming.answer()).body.toString()).toBe(event("a") + event("b", "stop") + done);
    expect(target.endpoint("r1").inflight).toBe(0);
  });

  test("an engine that has not answered a probe gets nothing while another has", async () => {
    const loading = await engine(answering);
    loading.modelsStatus = 503;
    const ready = await engine(answering);
    const target = await router(documentOf([loading, ready]));
    for (let round = 0; round < 8; round += 1) expect((await ask(target, plainBody)).status).toBe(200);
    expect(loading.requests).toHaveLength(0);
  });
});
