import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { answering, documentOf, errorOf, plainBody, useKit } from "./kit.ts";

const { engine, router, client, ask } = useKit();

describe("the surface", () => {
  test("a wrong key is refused before the body is read", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake]));
    for (const authorization of ["Bearer sk-two", "Basic sk-one", "Bearer"]) {
      const asking = await client(target);
      asking.send(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: 1000\r\n\r\n`,
      );
      const got = await asking.answer();
      expect([got.status, errorOf(got.body).code, got.headers["www-authenticate"]]).toEqual([
        401,
        "invalid_api_key",
        "Bearer",
      ]);
    }
    const twice = await ask(target, plainBody, { headers: ["Authorization: Bearer sk-one"] });
    expect(twice.status).toBe(401);
    expect(fake.requests).toHaveLength(0);
  });

  test("Expect: 100-continue is answered only after the key is known to be good", async () => {
    const target = await router(documentOf([await engine(answering)]));
    const head = (key: string) =>
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: 100-continue\r\nContent-Length: ${plainBody.length}\r\n\r\n`;
    const bad = await client(target);
    bad.send(head("sk-two"));
    expect((await bad.answer()).status).toBe(401);
    const good = await client(target);
    good.send(head("sk-one"));
    expect((await good.answer()).status).toBe(100);
    good.send(plainBody);
    expect((await good.answer()).status).toBe(200);
  });

  test.each([
    ["GET", "/metrics", 404],
    ["GET", "/health", 404],
    ["GET", "/debug/pprof/heap", 404],
    ["POST", "/api/trpc/routers.sync", 404],
    ["GET", "//v1/models", 404],
    ["GET", "/v1/models/", 404],
    ["GET", "/v1/../metrics", 404],
    ["GET", "/v1/%2e%2e/metrics", 404],
    ["GET", "http://evil/v1/models", 404],
    ["GET", "/tokenize", 404],
    ["GET", "/v1/chat/completions", 405],
    ["TRACE", "/", 404],
    ["DELETE", "/v1/models", 405],
    ["GET", "/healthz", 200],
  ])("%s %s answers %i in JSON and asks no engine", async (method, path, status) => {
    const fake = await engine(answering);
    const asking = await client(await router(documentOf([fake])));
    asking.send(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\n\r\n`);
    const got = await asking.answer();
    expect(got.status).toBe(status);
    expect(got.headers["content-type"]).toBe("application/json");
    expect(got.headers["x-request-id"]).toBeDefined();
    expect(fake.requests).toHaveLength(0);
  });

  test("models are listed and found by the key that may use them", async () => {
    const fake = await engine(answering, ["m1", "org/m-2"]);
    const document = documentOf([fake]);
    const target = await router({
      ...document,
      keys: [...document.keys, { id: "all", secret: "sk-all", models: ["*"] }],
      models: [...document.models, { id: "org/m-2", endpoints: [] }],
    });
    const get = async (path: string, key: string) => {
      const asking = await client(target);
      asking.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
      return await asking.answer();
    };
    const ids = async (key: string) => {
      const list = JSON.parse((await get("/v1/models", key)).body.toString());
      return list.data.map(({ id }: { id: string }) => id);
    };
    expect(await ids("sk-all")).toEqual(["m1", "org/m-2"]);
    expect(await ids("sk-one")).toEqual(["m1"]);
    expect((await get("/v1/models/org/m-2", "sk-all")).status).toBe(200);
    expect((await get("/v1/models/org%2Fm-2", "sk-all")).status).toBe(200);
    expect((await get("/v1/models/org/m-2", "sk-one")).status).toBe(404);
    const forbidden = await ask(target, '{"model":"org/m-2"}');
    expect([forbidden.status, errorOf(forbidden.body).code]).toEqual([403, "model_not_allowed"]);
    const empty = await ask(target, '{"model":"org/m-2"}', { key: "sk-all" });
    expect([empty.status, errorOf(empty.body).code]).toEqual([503, "no_endpoint"]);
  });

  test.each([
    ["", null],
    ["{", null],
    ["[1]", null],
    ["null", null],
    ["\ufeff{}", null],
    ['{"model":5}', "model"],
    ['{"model":""}', "model"],
    ['{"messages":[]}', "model"],
    ['{"model":"m1","model":"m1"}', "model"],
    ['{"model":"m1","mod\\u0065l":"m1"}', "model"],
    ['{"model":"m1","stream":"true"}', "stream"],
    ['{"model":"m1"} x', null],
  ])("the malformed body %s is a 400 that no engine sees", async (body, param) => {
    const fake = await engine(answering);
    const got = await ask(await router(documentOf([fake])), body);
    expect([got.status, errorOf(got.body).code, errorOf(got.body).param]).toEqual([
      400,
      "invalid_request_error",
      param,
    ]);
    expect(fake.requests).toHaveLength(0);
  });

  test("an unknown model is a 404, and a name never gets through unescaped", async () => {
    const target = await router(documentOf([await engine(answering)]));
    for (const name of ["nope", "M1", " m1 ", "x".repeat(10_000), "\u202e\u0007"]) {
      const got = await ask(target, JSON.stringify({ model: name }));
      expect([got.status, errorOf(got.body).code, errorOf(got.body).param]).toEqual([404, "model_not_found", "model"]);
      expect(errorOf(got.body).message.length).toBeLessThan(300);
    }
    expect(await target.metrics.registry.metrics()).not.toContain('model="nope"');
  });

  test("a body over the limit is a 413, declared or not", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake], { admission: { maxBodyBytes: 100 } }));
    expect((await ask(target, `{"model":"m1","x":"${"y".repeat(100)}"}`)).status).toBe(413);
    const chunked = await client(target);
    chunked.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    chunked.send(`c8\r\n${"y".repeat(200)}\r\n`);
    const got = await chunked.answer();
    expect([got.status, errorOf(got.body).code]).toEqual([413, "request_too_large"]);
    expect(fake.requests).toHaveLength(0);
  });

  test("a coded body reaches the engine decoded; what it may grow to is limited, and other codings are a 415", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake], { admission: { maxBodyBytes: 100_000 } }));
    const coded = (coding: string) => ({ headers: [`Content-Encoding: ${coding}`] });
    const results = [
      await ask(target, gzipSync(plainBody), coded("gzip")),
      await ask(target, gzipSync(Buffer.alloc(10_000_000)), coded("gzip")),
      await ask(target, "nonsense", coded("gzip")),
      await ask(target, plainBody, coded("zstd")),
      await ask(target, plainBody, coded("identity")),
    ];
    expect(results.map(({ status }) => status)).toEqual([200, 413, 400, 415, 200]);
    expect(fake.requests.map(({ body }) => body.toString())).toEqual([plainBody, plainBody]);
    expect(fake.requests[0]?.head).not.toMatch(/content-encoding/i);
  });

  test("a client's credentials and internal headers stop at the router; an engine gets its own key", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake], {}, [{ apiKey: "engine-key" }]));
    await ask(target, plainBody, {
      path: "/v1/chat/completions?api_key=sk-one",
      headers: [
        "x-api-key: sk-one",
        "api-key: sk-one",
        "Cookie: s=sk-one",
        "Proxy-Authorization: sk-one",
        "x-llmgw-key-id: admin",
        "X-Conversation-Id: 1",
        "Connection: x-secret-hop, keep-alive",
        "X-Secret-Hop: 1",
        "Keep-Alive: timeout=9",
        "TE: trailers",
        "Upgrade: h2c",
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "x-request-id: abc-1",
      ],
    });
    const head = fake.requests[0]?.head ?? "";
    expect(head).not.toContain("sk-one");
    expect(head).not.toMatch(/x-llmgw|conversation|secret-hop|keep-alive: |upgrade|cookie|proxy/i);
    expect(head).toContain("authorization: Bearer engine-key");
    expect(head).toContain("x-request-id: abc-1");
    expect(head).toContain("traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736");
    expect(head).toContain(`host: 127.0.0.1:${fake.port}`);
  });

  test("bytes that are no HTTP get a JSON 400 and hurt nobody", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake]));
    for (const bytes of ["\x16\x03\x01\x02\x00\x01", "nonsense\r\n\r\n"]) {
      const asking = await client(target);
      asking.send(bytes);
      const got = await asking.answer();
      expect([got.status, got.headers["connection"]]).toEqual([400, "close"]);
      await asking.closed();
    }
    const smuggling = await client(target);
    smuggling.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
    );
    expect((await smuggling.answer()).status).toBe(400);
    expect((await ask(target, plainBody)).status).toBe(200);
    expect(fake.requests).toHaveLength(1);
  });
});
