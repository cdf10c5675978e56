import { describe, expect, test } from "vitest";
import { jsonAnswer } from "./fake-engine.ts";
import { heldEngine } from "./held-engine.ts";
import { answering, documentOf, errorOf, plainBody, useKit } from "./kit.ts";
import { waitFor } from "./test-router.ts";

const { engine, router, client, ask } = useKit();

const withLimits = (limits: object, extra: object = {}) => ({
  keys: [
    { id: "one", secret: "sk-one", models: ["*"], limits, ...extra },
    { id: "two", secret: "sk-two", models: ["*"] },
  ],
});

describe("a key's limit", () => {
  test("of requests per minute is a 429 that says when, for this key alone and before the body is read", async () => {
    const fake = await engine(answering);
    const target = await router(documentOf([fake], withLimits({ requestsPerMinute: 2 })));
    for (let count = 0; count < 2; count += 1) expect((await ask(target, plainBody)).status).toBe(200);
    const asking = await client(target);
    asking.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\nContent-Length: 1000\r\n\r\n",
    );
    const got = await asking.answer();
    expect([got.status, errorOf(got.body).code]).toEqual([429, "rate_limited"]);
    expect(Number(got.headers["retry-after"])).toBeGreaterThanOrEqual(58);
    expect((await ask(target, plainBody, { key: "sk-two" })).status).toBe(200);
    asking.close();
    const listing = await client(target);
    listing.send("GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-one\r\n\r\n");
    expect((await listing.answer()).status).toBe(200);
    await target.reload(documentOf([fake], withLimits({ requestsPerMinute: 2 })));
    expect((await ask(target, plainBody)).status, "a reload forgets nothing").toBe(429);
    await target.reload(documentOf([fake], withLimits({ requestsPerMinute: 10 })));
    expect((await ask(target, plainBody)).status).toBe(200);
  });

  test("of requests at a time counts those that wait too, and gives a place back however a request ends", async () => {
    const held = heldEngine();
    const fake = await engine(held.script);
    const target = await router(documentOf([fake], withLimits({ concurrent: 2 }), [{ maxInflight: 1 }]));
    const [first, second] = [await client(target), await client(target)];
    first.post(plainBody);
    await waitFor(() => held.held() === 1);
    second.post(plainBody);
    await waitFor(() => target.registry.model("m1")?.queued === 1);
    const refused = await ask(target, plainBody);
    expect([refused.status, errorOf(refused.body).code, refused.headers["retry-after"]]).toEqual([
      429,
      "rate_limited",
      "1",
    ]);
    second.reset();
    await waitFor(() => target.registry.model("m1")?.queued === 0);
    const third = await client(target);
    third.post(plainBody);
    await waitFor(() => target.registry.model("m1")?.queued === 1);
    held.release();
    await waitFor(() => held.held() === 1);
    held.release();
    expect([(await first.answer()).status, (await third.answer()).status]).toEqual([200, 200]);
  });

  test("of tokens per minute is known once an answer has told what it used", async () => {
    const answer = jsonAnswer('{"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":20,"total_tokens":110}}');
    const fake = await engine(({ socket }) => void socket.write(answer));
    const target = await router(documentOf([fake], withLimits({ tokensPerMinute: 100 })));
    expect((await ask(target, plainBody)).status).toBe(200);
    const got = await ask(target, plainBody);
    expect([got.status, errorOf(got.body).code]).toEqual([429, "quota_exceeded"]);
    expect(fake.requests).toHaveLength(1);
    expect(await target.metrics.registry.metrics()).toContain('llmgw_tokens_total{model="m1",kind="prompt"} 90');
  });
});

test("a key that has expired, or is gone from the table, is refused from then on", async () => {
  const fake = await engine(answering);
  const target = await router(documentOf([fake], withLimits({}, { expiresAt: "2020-01-01T00:00:00Z" })));
  const expired = await ask(target, plainBody);
  expect([expired.status, errorOf(expired.body).message]).toEqual([401, "This API key has expired."]);
  expect((await ask(target, plainBody, { key: "sk-two" })).status).toBe(200);
  await target.reload(documentOf([fake]));
  expect((await ask(target, plainBody, { key: "sk-two" })).status).toBe(401);
  expect((await ask(target, plainBody)).status).toBe(200);
});

test("keys that no admin has confirmed for too long are all refused, for a reason that is not theirs", async () => {
  const target = await router(documentOf([await engine(answering)]));
  target.registry.keysValidUntilMs = Date.now() - 1;
  const got = await ask(target, plainBody);
  expect([got.status, errorOf(got.body).code, got.headers["retry-after"]]).toEqual([503, "keys_outdated", "60"]);
});
