import { describe, expect, test } from "vitest";
import { chunk, type EngineScript, event, streamHead } from "./fake-engine.ts";
import { answering, documentOf, plainBody, streamBody, useKit } from "./kit.ts";
import { waitFor } from "./test-router.ts";

const { engine, router, client } = useKit();

describe("a client that leaves", () => {
  test.each<[string, string, EngineScript]>([
    ["before the head, non-stream", plainBody, () => undefined],
    ["before the head, stream", streamBody, () => undefined],
    ["in the middle of a stream", streamBody, ({ socket }) => void socket.write(`${streamHead}${chunk(event("a"))}`)],
  ])("%s: the engine's connection is closed within 50 ms", async (_when, body, script) => {
    const fake = await engine(script);
    const target = await router(documentOf([fake]));
    const asking = await client(target);
    asking.post(body);
    await waitFor(() => fake.requests.length === 1);
    if (body === streamBody && asking.received.length === 0) await waitFor(() => target.endpoint("r1").inflight === 1);
    const closed = new Promise<number>((resolve) => {
      fake.requests[0]?.socket.once("close", () => resolve(performance.now()));
    });
    const leftAtMs = performance.now();
    asking.reset();
    expect((await closed) - leftAtMs).toBeLessThan(50 * 5);
    await target.ended(1);
    expect(target.ends).toMatchObject([{ outcome: "client_closed", status: 499 }]);
    expect(target.endpoint("r1").failed).toBe(0);
  });

  test("with further requests sent ahead on its connection ends all of them", async () => {
    const fake = await engine(({ socket }) => void socket.write(`${streamHead}${chunk(event("a"))}`));
    const target = await router(documentOf([fake]));
    const asking = await client(target);
    for (let sent = 0; sent < 12; sent += 1) asking.post(streamBody);
    await waitFor(() => fake.requests.length === 12);
    asking.reset();
    await target.ended(12);
    expect(new Set(target.ends.map(({ outcome }) => outcome))).toEqual(new Set(["client_closed"]));
    await waitFor(() => target.endpoint("r1").inflight === 0 && fake.requests.every(({ socket }) => socket.destroyed));
  });

  test("while it waits in the queue never reaches an engine", async () => {
    const fake = await engine(() => undefined);
    const target = await router(documentOf([fake], {}, [{ maxInflight: 1 }]));
    const first = await client(target);
    first.post(plainBody);
    await waitFor(() => fake.requests.length === 1);
    const second = await client(target);
    second.post(plainBody);
    await waitFor(() => target.registry.model("m1")?.queued === 1);
    second.close();
    await waitFor(() => target.registry.model("m1")?.queued === 0);
    first.close();
    await target.ended(2);
    expect(fake.requests).toHaveLength(1);
  });

  test("while it sends its body never reaches an engine", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake]));
    const asking = await client(target);
    asking.send(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\nContent-Length: 1000\r\n\r\n${plainBody}`,
    );
    await waitFor(() => target.bodyMemory.held > 0);
    asking.reset();
    await target.ended(1);
    expect(fake.requests).toHaveLength(0);
    expect(target.ends).toMatchObject([{ outcome: "client_closed" }]);
  });

  test("a client that does not read holds the engine back, and is let go of in the end", async () => {
    let written = 0;
    const piece = chunk(event("x".repeat(60_000)));
    const fake = await engine(({ socket }) => {
      socket.write(streamHead);
      const push = () => {
        while (!socket.destroyed && written < 200_000_000) {
          written += piece.length;
          if (!socket.write(piece)) return;
        }
      };
      socket.on("drain", push);
      push();
    });
    const target = await router(documentOf([fake], { timeouts: { clientStallMs: 700 } }));
    const asking = await client(target);
    asking.socket.pause();
    asking.post(streamBody);
    await target.ended(1);
    expect(target.ends).toMatchObject([{ outcome: "client_stalled" }]);
    expect(written).toBeLessThan(40_000_000);
    await waitFor(() => fake.requests[0]?.socket.destroyed === true);
  });
});
