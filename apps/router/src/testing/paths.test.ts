import { describe, expect, test } from "vitest";
import { chunk, done, type EngineScript, event, jsonAnswer, lastChunk, streamHead } from "./fake-engine.ts";
import { answering, documentOf, errorOf, plainBody, sha256, streamBody, useKit } from "./kit.ts";

const { engine, router, client, ask } = useKit();

const form = (boundary: string, model: string | null) =>
  Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`),
    Buffer.from([0x52, 0x49, 0x00, 0xff, 0xfe, 0xc3, 0x28]),
    Buffer.alloc(2_097_152, 0xa5),
    Buffer.from(`\r\n--${boundary}-not-a-delimiter\r\nmore\r\n`),
    ...(model === null
      ? []
      : [Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n`)]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);

describe("the inference paths", () => {
  test.each([
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/embeddings",
    "/v1/responses",
    "/v1/messages",
    "/v1/rerank",
    "/rerank",
    "/v1/score",
    "/v1/audio/speech",
    "/v1/images/generations",
  ])("%s passes body and answer on as they are, and keys stay behind", async (path) => {
    const answer = Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x7d]);
    const fake = await engine(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ncontent-length: ${answer.length}\r\n\r\n`);
      socket.write(answer);
    });
    const target = await router(documentOf([fake]));
    const body = '{"input" : [[1,2],[3]], "model":"m1", "encoding_format":"base64"}';
    const got = await ask(target, body, { path: `${path}?x=1&api_key=sk-one`, headers: ["x-api-key: sk-one"] });
    expect([got.status, got.headers["content-type"], sha256(got.body)]).toEqual([200, "audio/mpeg", sha256(answer)]);
    const [seen] = fake.requests;
    expect([seen?.path, seen?.body.toString()]).toEqual([`${path}?x=1`, body]);
    expect(seen?.head).not.toContain("sk-one");
  });

  test.each(["/v1/audio/transcriptions", "/v1/audio/translations"])(
    "%s takes a form, file first and model last, and leaves every byte of it",
    async (path) => {
      const fake = await engine(({ socket }) => {
        const srt = "1\n00:00:00,000 --> 00:00:01,000\n北\n";
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(srt)}\r\n\r\n${srt}`,
        );
      });
      const target = await router(documentOf([fake]));
      for (const type of ["multipart/form-data; boundary=XB", 'multipart/form-data; boundary="XB"']) {
        const got = await ask(target, form("XB", "m1"), { path, type });
        expect([got.status, got.headers["content-type"]]).toEqual([200, "text/plain"]);
        expect(got.body.toString()).toContain("北");
        const seen = fake.requests.at(-1);
        expect(sha256(seen?.body ?? "")).toBe(sha256(form("XB", "m1")));
        expect(seen?.head).toContain(`content-type: ${type}`);
      }
      await ask(target, form("XB", "gpt-4o-mini"), { path, type: "multipart/form-data; boundary=XB" });
      expect(sha256(fake.requests.at(-1)?.body ?? "")).toBe(sha256(form("XB", "m1")));
    },
  );

  test.each([
    ["garbage", { body: Buffer.from("nonsense"), type: "multipart/form-data; boundary=XB", param: null }],
    ["no boundary", { body: form("XB", "m1"), type: "multipart/form-data", param: null }],
    ["another boundary", { body: form("XB", "m1"), type: "multipart/form-data; boundary=YB", param: null }],
    ["no model", { body: form("XB", null), type: "multipart/form-data; boundary=XB", param: "model" }],
    ["JSON", { body: Buffer.from(plainBody), type: "application/json", param: null }],
  ])("a form with %s is a 400 that no engine sees", async (_what, { body, type, param }) => {
    const fake = await engine(answering);
    const got = await ask(await router(documentOf([fake])), body, { path: "/v1/audio/transcriptions", type });
    expect([got.status, errorOf(got.body).code, errorOf(got.body).param]).toEqual([
      400,
      "invalid_request_error",
      param,
    ]);
    expect(fake.requests).toHaveLength(0);
  });

  test("a form that comes in chunks arrives whole", async () => {
    const fake = await engine(answering);
    const asking = await client(await router(documentOf([fake])));
    asking.send(
      "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\nContent-Type: multipart/form-data; boundary=XB\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    asking.send(Buffer.concat([chunk(form("XB", "m1")), Buffer.from(lastChunk)]));
    expect((await asking.answer()).status).toBe(200);
    expect(sha256(fake.requests[0]?.body ?? "")).toBe(sha256(form("XB", "m1")));
    expect(fake.requests[0]?.head).not.toMatch(/transfer-encoding/i);
  });
});

describe("Anthropic's dialect", () => {
  const messages = { path: "/v1/messages" };

  test("takes the key from x-api-key, passes its version on, and tells errors its own way", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake]));
    const headers = (key: string) => [`x-api-key: ${key}`, "anthropic-version: 2023-06-01"];
    expect((await ask(target, plainBody, { ...messages, key: null, headers: headers("sk-one") })).status).toBe(200);
    expect(fake.requests[0]?.head).toContain("anthropic-version: 2023-06-01");
    expect(fake.requests[0]?.head).not.toContain("sk-one");
    const wrong = await ask(target, plainBody, { ...messages, key: null, headers: headers("sk-two") });
    expect([wrong.status, JSON.parse(wrong.body.toString())]).toMatchObject([
      401,
      { type: "error", error: { type: "authentication_error" }, request_id: wrong.headers["x-request-id"] },
    ]);
    const unknown = await ask(target, '{"model":"nope"}', messages);
    expect([unknown.status, JSON.parse(unknown.body.toString())]).toMatchObject([
      404,
      { type: "error", error: { type: "not_found_error" } },
    ]);
  });

  test("hears of a full queue as a rate limit with Retry-After", async () => {
    const fake = await engine(() => undefined);
    const target = await router(documentOf([fake], { admission: { waitBudgetMs: 40 } }, [{ maxInflight: 1 }]));
    (await client(target)).post(plainBody);
    const got = await ask(target, plainBody, messages);
    expect(JSON.parse(got.body.toString()).error.type).toBe("rate_limit_error");
    expect([got.status, Number(got.headers["retry-after"])]).toEqual([429, 5]);
  });
});

describe("a stream that breaks off", () => {
  const dying =
    (text: string): EngineScript =>
    ({ socket }) =>
      void socket.end(Buffer.concat([Buffer.from(streamHead), chunk(text)]));

  test("on /v1/messages ends with that dialect's error event", async () => {
    const begun = 'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\n';
    const got = await ask(await router(documentOf([await engine(dying(begun))])), streamBody, { path: "/v1/messages" });
    const text = got.body.toString();
    expect(text.slice(0, begun.length)).toBe(begun);
    expect(text.slice(begun.length)).toMatch(
      /^event: error\ndata: \{"type":"error","error":\{"type":"api_error",.*\n\n$/,
    );
  });

  test("on /v1/responses ends with response.failed", async () => {
    const begun = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta"}\n\n';
    const got = await ask(await router(documentOf([await engine(dying(begun))])), streamBody, {
      path: "/v1/responses",
    });
    const text = got.body.toString().slice(begun.length);
    expect(text).toMatch(/^event: response\.failed\ndata: \{"type":"response\.failed","sequence_number":1,.*\n\n$/);
  });

  test.each([
    ["/v1/messages", 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    ["/v1/responses", 'event: response.completed\ndata: {"response":{},"type":"response.completed"}\n\n'],
    ["/v1/chat/completions", event("a") + done],
  ])("on %s is whole after that dialect's last event", async (path, text) => {
    const target = await router(documentOf([await engine(dying(text))]));
    expect((await ask(target, streamBody, { path })).body.toString()).toBe(text);
    expect(target.ends).toMatchObject([{ outcome: "ok" }]);
  });
});

describe("web pages", () => {
  const preflight = (origin: string) =>
    `OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type,x-stainless-timeout\r\n\r\n`;

  test("of an allowed origin may ask without a key, send what they name, and read errors too", async () => {
    const fake = await engine(({ socket }) => void socket.write(jsonAnswer("{}")));
    const target = await router(documentOf([fake], { cors: { origins: ["https://chat.example"] } }));
    const asking = await client(target);
    asking.send(preflight("https://chat.example"));
    const allowed = await asking.answer();
    expect(allowed.status).toBe(204);
    expect(allowed.headers).toMatchObject({
      "access-control-allow-origin": "https://chat.example",
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": "authorization,content-type,x-stainless-timeout",
      vary: "origin",
    });
    for (const [key, status] of [
      ["sk-one", 200],
      ["sk-two", 401],
    ] as const) {
      const got = await ask(target, plainBody, { key, headers: ["Origin: https://chat.example"] });
      expect([got.status, got.headers["access-control-allow-origin"]]).toEqual([status, "https://chat.example"]);
    }
    const stranger = await client(target);
    stranger.send(preflight("https://evil.example"));
    const refused = await stranger.answer();
    expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([405, undefined]);
  });

  test("get a 405 where no origin is allowed", async () => {
    const asking = await client(await router(documentOf([await engine(answering)])));
    asking.send(preflight("https://chat.example"));
    const got = await asking.answer();
    expect([got.status, got.headers["allow"]]).toEqual([405, "POST"]);
  });
});

test("HEAD answers what GET does, without a body", async () => {
  const asking = await client(await router(documentOf([await engine(answering)])));
  asking.send("HEAD /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\n\r\n");
  await asking.until((received) => received.includes("\r\n\r\n"));
  const text = asking.received.toString();
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(Number(/content-length: (\d+)/.exec(text)?.[1])).toBeGreaterThan(10);
  expect(text.endsWith("\r\n\r\n")).toBe(true);
});
