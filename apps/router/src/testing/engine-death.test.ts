import { describe, expect, test } from "vitest";
import { chunk, done, type EngineScript, event, lastChunk, streamHead } from "./fake-engine.ts";
import { documentOf, errorOf, streamBody, useKit } from "./kit.ts";

const { engine, router, client, ask } = useKit();

describe("an engine that dies in its stream", () => {
  const twoEvents = event("a") + event("b");
  const interrupted =
    /^data: \{"error":\{"message":"[^"]+","type":"upstream_error","param":null,"code":"stream_interrupted"\}\}\n\n$/;

  test.each<[string, EngineScript, string]>([
    [
      "by a reset",
      ({ socket }) => {
        socket.write(streamHead);
        socket.write(chunk(twoEvents), () => setTimeout(() => socket.resetAndDestroy(), 20));
      },
      twoEvents,
    ],
    [
      "by an end without a last chunk",
      ({ socket }) => void socket.end(Buffer.concat([Buffer.from(streamHead), chunk(twoEvents)])),
      twoEvents,
    ],
    [
      "by a clean-looking end of a body without a length",
      ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${twoEvents}`),
      twoEvents,
    ],
    [
      "in the middle of an event",
      ({ socket }) => void socket.end(Buffer.concat([Buffer.from(streamHead), chunk(`${twoEvents}data: {"cho`)])),
      twoEvents,
    ],
    [
      "after a line that was not followed by a blank one",
      ({ socket }) => void socket.end(Buffer.concat([Buffer.from(streamHead), chunk(`${twoEvents}event: x\n`)])),
      twoEvents,
    ],
  ])("%s leaves what came, one error event on a line of its own, and no [DONE]", async (_how, script, kept) => {
    const target = await router(documentOf([await engine(script)]));
    const asking = await client(target);
    asking.post(streamBody);
    const got = await asking.answer();
    const text = got.body.toString();
    expect(text.slice(0, kept.length)).toBe(kept);
    expect(text.slice(kept.length)).toMatch(interrupted);
    await asking.closed();
    expect(target.ends).toMatchObject([{ outcome: "upstream_error", status: 200 }]);
    expect(target.endpoint("r1").failed).toBe(1);
  });

  test("right after its head is replaced by another endpoint before the client sees anything", async () => {
    const dying = await engine(({ socket }) => void socket.end(streamHead));
    const well = await engine(
      ({ socket }) => void socket.write(`${streamHead}${chunk(event("a", "stop") + done)}${lastChunk}`),
    );
    const target = await router(documentOf([dying, well]));
    for (let round = 0; round < 6; round += 1) {
      const got = await ask(target, streamBody);
      expect(got.body.toString()).toBe(event("a", "stop") + done);
      expect(got.headers["x-llmgw-endpoint"]).toBe("r2");
    }
  });

  test("with its head as the last word, and nobody else to ask, is a 502", async () => {
    const target = await router(documentOf([await engine(({ socket }) => void socket.end(streamHead))]));
    const got = await ask(target, streamBody);
    expect([got.status, errorOf(got.body).code]).toEqual([502, "upstream_error"]);
  });

  test("after its finish reason has said everything: the answer is whole", async () => {
    const text = event("a", "stop");
    const target = await router(
      documentOf([
        await engine(({ socket }) => void socket.end(Buffer.concat([Buffer.from(streamHead), chunk(text)]))),
      ]),
    );
    const got = await ask(target, streamBody);
    expect(got.body.toString()).toBe(text);
    expect(target.ends).toMatchObject([{ outcome: "ok" }]);
  });

  test("with an error event of its own has that passed on byte for byte and counts as an engine's error", async () => {
    const text = `${event("a")}data: {"error":{"message":"x","code":500}}\n\n${done}`;
    const fake = await engine(({ socket }) => void socket.write(`${streamHead}${chunk(text)}${lastChunk}`));
    const target = await router(documentOf([fake]));
    const got = await ask(target, streamBody);
    expect(got.body.toString()).toBe(text);
    expect(target.ends).toMatchObject([{ outcome: "upstream_error", status: 200 }]);
    expect(target.endpoint("r1").failed).toBe(1);
  });
});
