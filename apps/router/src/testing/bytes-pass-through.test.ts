import { describe, expect, test } from "vitest";
import { chunk, done, event, jsonAnswer, lastChunk, streamHead } from "./fake-engine.ts";
import { answering, documentOf, sha256, streamBody, useKit } from "./kit.ts";

const { engine, router, client, ask } = useKit();

describe("bytes", () => {
  test("of a request and of its answer pass through unchanged", async () => {
    const request =
      '{ "model" : "m1" , "seed":12345678901234567890, "temperature":1.0, "x_unknown":{"a":[1e400]}, "tools":[{"é":"\\u0041\\/"}], "stream": null }\n';
    const answer = '{ "id":"x",  "big":12345678901234567890, "choices":[{"message":{"content":"北😀"}}]}\n';
    const fake = await engine(({ socket }) => void socket.write(jsonAnswer(answer)));
    const got = await ask(await router(documentOf([fake])), request, {
      path: "/v1/chat/completions?a=1&api_key=sk-one",
    });
    expect(got.status).toBe(200);
    expect(sha256(got.body)).toBe(sha256(answer));
    const [seen] = fake.requests;
    expect(sha256(seen?.body ?? "")).toBe(sha256(request));
    expect(seen?.path).toBe("/v1/chat/completions?a=1");
    expect(got.headers["x-llmgw-endpoint"]).toBe("r1");
    expect(got.headers["x-request-id"]).toMatch(/^req_/);
  });

  test("of an alias's name alone are replaced", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake]));
    await ask(target, '{"messages":[], "model"\t: "gpt-4o-mini" ,"n":1.50}');
    expect(fake.requests[0]?.body.toString()).toBe('{"messages":[], "model"\t: "m1" ,"n":1.50}');
  });

  test.each([
    ["one at a time", 1],
    ["three at a time", 3],
    ["seven at a time", 7],
  ])("of a stream cut %s arrive whole, with CRLF, bare CR, comments and no space after data:", async (_how, step) => {
    const text = `:\n\n: ping - 2\n\n:x\n${event("北😀")}data:{"choices":[{"index":0,"delta":{"content":"b"}}]}\r\n\r\n${event("c", "stop")}data:[DONE]\r\r`;
    const bytes = Buffer.from(text);
    const fake = await engine(async ({ socket }) => {
      socket.write(streamHead);
      for (let at = 0; at < bytes.length; at += step) {
        socket.write(chunk(bytes.subarray(at, at + step)));
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write(lastChunk);
    });
    const target = await router(documentOf([fake]));
    const got = await ask(target, streamBody);
    expect(got.body.toString()).toBe(text);
    expect(got.isWhole).toBe(true);
    expect(got.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    expect(target.ends).toMatchObject([{ outcome: "ok", status: 200, hadFirstToken: true }]);
  });

  test("of a head reach the client before the first event does, and each event as it comes", async () => {
    let next: (text: string) => void = () => undefined;
    const fake = await engine(({ socket }) => {
      socket.write(streamHead);
      next = (text) => socket.write(text === "" ? lastChunk : chunk(text));
    });
    const asking = await client(await router(documentOf([fake])));
    asking.post(streamBody);
    await asking.until((received) => received.includes("\r\n\r\n"));
    next(event("a"));
    await asking.until((received) => received.includes('"a"'));
    next(done);
    await asking.until((received) => received.includes("[DONE]"));
    next("");
    expect((await asking.answer()).isWhole).toBe(true);
  });
});
