import { describe, expect, test } from "vitest";
import { chunk, done, event, lastChunk, streamHead } from "./fake-engine.ts";
import { answering, documentOf, errorOf, okAnswer, plainBody, streamBody, useKit } from "./kit.ts";
import { waitFor } from "./test-router.ts";

const { engine, router, client, ask } = useKit();

const head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\n";
const smuggled = "0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

describe("a request that could be read in two ways", () => {
  test.each([
    ["a length and chunks", `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled}`],
    ["two lengths", `Content-Length: 5\r\nContent-Length: 6\r\n\r\n${smuggled}`],
    ["one length twice", `Content-Length: 5\r\nContent-Length: 5\r\n\r\n${smuggled}`],
    ["a list of lengths", `Content-Length: 5, 5\r\n\r\n${smuggled}`],
    ["a tab behind chunked", `Content-Length: 5\r\nTransfer-Encoding: chunked\t\r\n\r\n${smuggled}`],
    ["a second coding behind chunked", `Transfer-Encoding: chunked, identity\r\n\r\n${smuggled}`],
    ["an unknown coding", `Transfer-Encoding: xchunked\r\n\r\n${smuggled}`],
    ["a folded header", `X-A: 1\r\n folded\r\nContent-Length: 5\r\n\r\n${smuggled}`],
    ["lines without CR", `X-A: 1\nContent-Length: 5\n\n${smuggled}`],
    ["a bad chunk size", "Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n"],
    ["a length no number holds", "Content-Length: 99999999999999999999\r\n\r\n{}"],
  ])("(%s) is refused with its connection, and no engine sees a byte", async (_how, rest) => {
    const fake = await engine(answering);
    const asking = await client(await router(documentOf([fake])));
    asking.send(head + rest);
    await asking.closed();
    const answers = asking.received.toString("latin1").match(/HTTP\/1\.1 \d+/g) ?? [];
    expect(answers).toEqual(["HTTP/1.1 400"]);
    expect(fake.requests).toHaveLength(0);
  });

  test("too many headers are a 431 in JSON", async () => {
    const asking = await client(await router(documentOf([await engine(answering)])));
    asking.send(`${head}X-A: ${"x".repeat(20_000)}\r\n\r\n`);
    const got = await asking.answer();
    expect([got.status, errorOf(got.body).code]).toEqual([431, "header_too_large"]);
  });
});

describe("an engine's answer that is no HTTP", () => {
  test.each([
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x"],
    ["endless headers", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(40_000)}\r\n\r\n`],
    ["no status line", "nonsense\r\n\r\n"],
    ["a redirection", "HTTP/1.1 307 X\r\nlocation: http://evil/\r\ncontent-length: 0\r\n\r\n"],
  ])("(%s) is a 502, and the next client meets nothing of it", async (_how, bytes) => {
    let isOdd = true;
    const fake = await engine(({ socket }) => void socket.write(isOdd ? bytes : okAnswer));
    const target = await router(documentOf([fake]));
    const got = await ask(target, plainBody);
    expect([got.status, errorOf(got.body).code]).toEqual([502, "upstream_error"]);
    isOdd = false;
    const next = await ask(target, plainBody);
    expect([next.status, next.body.toString()]).toEqual([200, '{"id":"x","choices":[]}']);
  });

  test("a second answer nobody asked for goes to nobody", async () => {
    let answers = 0;
    const fake = await engine(({ socket }) => {
      answers += 1;
      socket.write(answers === 1 ? okAnswer + okAnswer.replace('"x"', '"y"') : okAnswer.replace('"x"', '"z"'));
    });
    const target = await router(documentOf([fake]));
    expect((await ask(target, plainBody)).body.toString()).toContain('"x"');
    expect((await ask(target, plainBody)).body.toString()).toContain('"z"');
  });

  test("early hints and trailers are left out, the answer is whole", async () => {
    const fake = await engine(({ socket }) => {
      socket.write("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n");
      socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ntrailer: x-t\r\n\r\n",
      );
      socket.write(Buffer.concat([chunk('{"a":1}'), Buffer.from("0\r\nx-t: 1\r\n\r\n")]));
    });
    const got = await ask(await router(documentOf([fake])), plainBody);
    expect([got.status, got.body.toString(), got.isWhole]).toEqual([200, '{"a":1}', true]);
    expect(JSON.stringify(got.headers)).not.toMatch(/x-t|link/);
  });

  test("of JSON that just stops where its connection does is not taken for a whole one", async () => {
    const fake = await engine(
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"choices":[{"mes'),
    );
    const got = await ask(await router(documentOf([fake])), plainBody);
    expect(got.isWhole).toBe(false);
  });
});

test("an engine's cookies, connection headers and server name stop at the router", async () => {
  const extra = "connection: x-r\r\nx-r: 1\r\nkeep-alive: timeout=9\r\nset-cookie: a=b\r\nserver: uvicorn\r\n";
  const fake = await engine(({ socket }) => void socket.write(okAnswer.replace("\r\n", `\r\n${extra}`)));
  const got = await ask(await router(documentOf([fake])), plainBody);
  expect(Object.keys(got.headers).sort((a, b) => a.localeCompare(b))).toEqual([
    "connection",
    "content-length",
    "content-type",
    "date",
    "keep-alive",
    "x-llmgw-endpoint",
    "x-request-id",
  ]);
  expect(got.headers["keep-alive"]).toBe("timeout=75");
});

test("a client's encodings are not asked of the engine, so that nothing holds an event back", async () => {
  const fake = await engine(
    ({ socket }) => void socket.write(`${streamHead}${chunk(event("a", "stop") + done)}${lastChunk}`),
  );
  const got = await ask(await router(documentOf([fake])), streamBody, {
    headers: ["Accept-Encoding: gzip, br, zstd", "Accept: text/event-stream"],
  });
  expect(fake.requests[0]?.head).not.toMatch(/accept-encoding/i);
  expect(got.headers["content-encoding"]).toBeUndefined();
});

describe("ids", () => {
  test.each([
    ["abc-1", true],
    ["x".repeat(128), true],
    ["x".repeat(129), false],
    ['a"b', false],
  ])("a client's %s is kept: %s", async (id, isKept) => {
    const fake = await engine(answering);
    const got = await ask(await router(documentOf([fake])), plainBody, { headers: [`X-Request-Id: ${id}`] });
    expect(got.headers["x-request-id"] === id).toBe(isKept);
    expect(fake.requests[0]?.head).toContain(`x-request-id: ${got.headers["x-request-id"]}`);
  });

  test("a traceparent that is none is not passed on", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake]));
    for (const bad of ["00-0-0-01", `00-${"0".repeat(32)}-00f067aa0ba902b7-01`]) {
      await ask(target, plainBody, { headers: [`traceparent: ${bad}`] });
      expect(fake.requests.at(-1)?.head).not.toContain(bad);
    }
  });
});

describe("a body that is not what was announced", () => {
  test("too large: the client reads the 413 while it is still sending", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake], { admission: { maxBodyBytes: 100_000 } }));
    const piece = Buffer.alloc(1_048_576, 0x78);
    for (const framing of ["Content-Length: 20971520", "Transfer-Encoding: chunked"]) {
      const clients = await Promise.all(Array.from({ length: 10 }, () => client(target)));
      for (const asking of clients) {
        asking.send(`${head}${framing}\r\n\r\n`);
        for (let count = 0; count < 20; count += 1) asking.send(framing.startsWith("Content") ? piece : chunk(piece));
      }
      const answers = await Promise.all(clients.map((asking) => asking.answer()));
      expect(answers.map(({ status, headers }) => `${status} ${headers["connection"]}`)).toEqual(
        Array.from({ length: 10 }, () => "413 close"),
      );
    }
    expect(fake.requests).toHaveLength(0);
  });

  test("longer than its length: the rest is a bad request of its own", async () => {
    const fake = await engine(answering);
    const asking = await client(await router(documentOf([fake])));
    asking.send(`${head}Content-Length: ${plainBody.length}\r\n\r\n${plainBody}0123456789\r\n\r\n`);
    await asking.closed();
    expect(fake.requests.map(({ body }) => body.toString())).toEqual(fake.requests.length === 0 ? [] : [plainBody]);
    expect(asking.received.toString()).not.toMatch(/HTTP\/1\.1 200[\s\S]*HTTP\/1\.1 200/);
  });

  test("shorter than its length: no engine hears of it", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake]));
    const asking = await client(target);
    asking.send(`${head}Content-Length: ${plainBody.length + 10}\r\n\r\n${plainBody}`);
    asking.socket.end();
    await asking.closed();
    await target.ended(1);
    expect(target.ends).toMatchObject([{ outcome: "client_closed" }]);
    expect(fake.requests).toHaveLength(0);
  });

  test("a small one that grows a thousandfold is stopped at the limit", async () => {
    const { gzipSync } = await import("node:zlib");
    const bomb = gzipSync(Buffer.alloc(200_000_000));
    const target = await router(documentOf([await engine(answering)], { admission: { maxBodyBytes: 1_000_000 } }));
    const got = await ask(target, bomb, { headers: ["Content-Encoding: gzip"] });
    expect([got.status, errorOf(got.body).code]).toEqual([413, "request_too_large"]);
  });
});

test("a storm of resets, at any point of a request, leaves a neighbour's stream whole", async () => {
  let finish: () => void = () => undefined;
  const fake = await engine(({ socket, head: seen }) => {
    if (seen.includes("x-request-id: steady")) {
      socket.write(`${streamHead}${chunk(event("a"))}`);
      finish = () => void socket.write(`${chunk(event("b", "stop") + done)}${lastChunk}`);
    } else if (fake.requests.length % 2 === 0) socket.write(`${streamHead}${chunk(event("x"))}`);
  });
  const target = await router(documentOf([fake], { breaker: { failures: 1_000 } }));
  const steady = await client(target);
  steady.post(streamBody, { headers: ["X-Request-Id: steady"] });
  await steady.until((received) => received.includes('"a"'));
  const points = [
    "",
    "POST /v1/ch",
    "\x16\x03\x01\x02",
    `${head}Content-Length: 1000\r\n\r\n{"mod`,
    `${head}Content-Length: ${streamBody.length}\r\n\r\n${streamBody}`,
    `${head.replace("sk-one", "sk-two")}Content-Length: 1000\r\n\r\n`,
    `${head}Content-Length: 999999999\r\n\r\nxxx`,
  ];
  for (let round = 0; round < 20; round += 1) {
    const stormy = await Promise.all(points.map(() => client(target)));
    stormy.forEach((asking, index) => {
      asking.send(points[index] ?? "");
      if (round % 2 === 0) asking.reset();
      else setImmediate(() => asking.reset());
    });
    await Promise.all(stormy.map((asking) => asking.closed()));
  }
  await waitFor(() => target.endpoint("r1").inflight === 1);
  finish();
  const whole = await steady.answer();
  expect([whole.isWhole, whole.body.toString()]).toEqual([true, event("a") + event("b", "stop") + done]);
  expect(target.endpoint("r1").failed).toBe(0);
});

test("hundreds of requests are at the engine at once: no pool holds them back unseen", async () => {
  const fake = await engine(() => undefined);
  const target = await router(documentOf([fake], {}, [{ maxInflight: 400 }]));
  const clients = await Promise.all(Array.from({ length: 300 }, () => client(target)));
  for (const asking of clients) asking.post(streamBody);
  await waitFor(() => fake.requests.length === 300);
  expect(target.endpoint("r1").inflight).toBe(300);
  clients[0]?.close();
  await waitFor(() => target.endpoint("r1").inflight === 299);
});

test("a connection goes on to be used after errors, and while it is idle", async () => {
  const asking = await client(await router(documentOf([await engine(answering)])));
  for (const [body, status] of [
    [plainBody, 200],
    ["{", 400],
    ['{"model":"nope"}', 404],
    [plainBody, 200],
  ] as const) {
    asking.post(body);
    expect((await asking.answer()).status).toBe(status);
  }
});
