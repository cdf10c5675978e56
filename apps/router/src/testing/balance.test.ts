import { describe, expect, test } from "vitest";
import { heldEngine } from "./held-engine.ts";
import { answering, documentOf, plainBody, useKit } from "./kit.ts";
import { waitFor } from "./test-router.ts";

const { engine, router, client, ask } = useKit();

const vllm = (running: number, waiting: number) =>
  `vllm:num_requests_running ${running}\nvllm:num_requests_waiting ${waiting}\nvllm:kv_cache_usage_perc 0\n`;
/** Numbers stay as the first scrape has them. */
const frozen = { scrape: { intervalMs: "60s", staleAfterMs: "120s" } };

describe("balancing", () => {
  test("a burst between two scrapes is shared out, whoever looked idle in the last one", async () => {
    const engines = [heldEngine(), heldEngine()];
    const list = [await engine(engines[0]?.script ?? answering), await engine(engines[1]?.script ?? answering)];
    for (const [index, fake] of list.entries()) fake.metrics = vllm(index, 0);
    const target = await router(documentOf(list, frozen));
    await waitFor(() => target.registry.endpoints.every((endpoint) => endpoint.lastReading !== null));
    for (let count = 0; count < 40; count += 1) (await client(target)).post(plainBody);
    await waitFor(() => engines.reduce((sum, item) => sum + item.held(), 0) === 40);
    for (const item of engines) expect(Math.abs(item.held() - 20)).toBeLessThanOrEqual(2);
  });

  test.each([
    ["hangs", (fake: { answersMetrics: boolean }) => void Object.assign(fake, { answersMetrics: false })],
    ["is some other page", (fake: object) => void Object.assign(fake, { metrics: "<html>hello</html>" })],
    ["has none of the counts", (fake: object) => void Object.assign(fake, { metrics: "vllm:other 1\n" })],
  ])("an engine whose metrics page %s is stale: judged by what we sent, not idle and not out", async (_why, spoil) => {
    const engines = [heldEngine(), heldEngine(), heldEngine()];
    const list = await Promise.all(engines.map((item) => engine(item.script)));
    const [spoilt] = list;
    if (spoilt !== undefined) spoil(spoilt);
    for (const fake of list.slice(1)) fake.metrics = vllm(0, 0);
    const scrape = { intervalMs: 20, timeoutMs: 20, staleAfterMs: 1_000 };
    const target = await router(documentOf(list, { scrape }));
    await waitFor(() => target.registry.endpoints.slice(1).every((endpoint) => endpoint.lastReading !== null));
    const text = await target.metrics.registry.metrics();
    expect(text).toContain('llmgw_endpoint_metrics_stale{replica="r1",pool="none"} 1');
    expect(text).toContain('llmgw_endpoint_metrics_stale{replica="r2",pool="none"} 0');
    expect(text).not.toContain('llmgw_endpoint_running{replica="r1"');
    for (let count = 0; count < 60; count += 1) (await client(target)).post(plainBody);
    await waitFor(() => engines.reduce((sum, item) => sum + item.held(), 0) === 60);
    expect(engines[0]?.held()).toBeGreaterThan(10);
    expect(engines[0]?.held()).toBeLessThanOrEqual(24);
    if (spoilt === undefined) return;
    Object.assign(spoilt, { answersMetrics: true, metrics: vllm(7, 0) });
    await waitFor(() => target.endpoint("r1").lastReading?.running === 7);
    expect(target.endpoint("r1").isStale(performance.now())).toBe(false);
  });

  test("with every number stale requests are served by local limits, and saturation stays a number", async () => {
    const held = heldEngine();
    const fake = await engine(held.script);
    fake.metrics = "";
    const target = await router(documentOf([fake], {}, [{ maxInflight: 4 }]));
    (await client(target)).post(plainBody);
    await waitFor(() => held.held() === 1);
    expect(await target.metrics.registry.metrics()).toContain('llmgw_pool_saturation{model="m1"} 0.25');
  });

  test("SGLang's and llama.cpp's own counts steer requests as vLLM's do", async () => {
    const [sglang, llamacpp] = [await engine(answering), await engine(answering)];
    sglang.metrics = 'sglang:num_running_reqs{tp_rank="0"} 30\nsglang:num_queue_reqs{tp_rank="0"} 9\n';
    llamacpp.metrics = "llamacpp:requests_processing 1\nllamacpp:requests_deferred 0\n";
    const target = await router(documentOf([sglang, llamacpp], {}, [{ engine: "sglang" }, { engine: "llamacpp" }]));
    await waitFor(() => target.registry.endpoints.every((endpoint) => endpoint.lastReading !== null));
    for (let count = 0; count < 10; count += 1) await ask(target, plainBody);
    expect([sglang.requests.length, llamacpp.requests.length]).toEqual([0, 10]);
    expect(await target.metrics.registry.metrics()).toContain('llmgw_endpoint_waiting{replica="r1",pool="none"} 9');
  });

  test("an engine's hanging metrics page does not age the numbers of the others", async () => {
    const list = await Promise.all(Array.from({ length: 8 }, () => engine(answering)));
    const [hanging] = list;
    if (hanging !== undefined) hanging.answersMetrics = false;
    const scrape = { intervalMs: 50, timeoutMs: 5_000, staleAfterMs: 2_000 };
    const target = await router(documentOf(list, { scrape }));
    const [, ...others] = target.registry.endpoints;
    for (let round = 0; round < 3; round += 1) {
      const before = others.map((endpoint) => endpoint.lastReading);
      await waitFor(() => others.every((endpoint, index) => endpoint.lastReading !== before[index]));
    }
    expect(target.endpoint("r1").lastReading).toBeNull();
  });
});

describe("affinity", () => {
  const document = (list: Parameters<typeof documentOf>[0], policy: string) => {
    const whole = documentOf(list);
    return { ...whole, models: whole.models.map((model) => ({ ...model, policy })) };
  };

  test("by session sends requests of one user to one engine, by body or header", async () => {
    const list = await Promise.all(Array.from({ length: 4 }, () => engine(answering)));
    const target = await router(document(list, "session"));
    const home = async (body: string, headers: string[] = []) =>
      (await ask(target, body, { headers })).headers["x-llmgw-endpoint"];
    const homes = new Set<string | undefined>();
    for (let user = 0; user < 12; user += 1) {
      const body = `{"model":"m1","user":"u${user}","n":1}`;
      const first = await home(body);
      homes.add(first);
      for (let turn = 0; turn < 3; turn += 1) expect(await home(body.replace('"n":1', `"n":${turn}`))).toBe(first);
    }
    expect(homes.size).toBeGreaterThan(1);
    const named = await home(plainBody, ["x-session-id: abc"]);
    for (let turn = 0; turn < 4; turn += 1) expect(await home(plainBody, ["x-session-id: abc"])).toBe(named);
  });

  test("by prefix follows a growing conversation, under an alias too", async () => {
    const list = await Promise.all(Array.from({ length: 6 }, () => engine(answering)));
    const target = await router(document(list, "prefix"));
    const messages = [{ role: "system", content: "You are thorough. ".repeat(40) }];
    const seen = new Set<string | undefined>();
    for (let turn = 0; turn < 6; turn += 1) {
      messages.push({ role: "user", content: `turn ${turn} `.repeat(60) });
      const body = JSON.stringify({ model: turn % 2 === 0 ? "m1" : "gpt-4o-mini", messages });
      seen.add((await ask(target, body)).headers["x-llmgw-endpoint"]);
    }
    expect(seen.size).toBe(1);
  });
});

test("a decision is explained to whoever may ask: every endpoint with its numbers, never a key or a prompt", async () => {
  const list = [await engine(answering), await engine(answering)];
  const keys = [
    { id: "one", secret: "sk-one", models: ["*"], mayExplain: true },
    { id: "two", secret: "sk-two", models: ["*"] },
  ];
  const target = await router(documentOf(list, { keys }, [{}, { state: "draining" }]));
  const headers = ["x-llmgw-explain: 1", "x-request-id: why-1"];
  await ask(target, plainBody, { headers, key: "sk-two" });
  await ask(target, plainBody);
  expect(target.decisions.decisions).toEqual([]);
  await ask(target, plainBody, { headers });
  const [decision] = target.decisions.decisions;
  expect(decision).toMatchObject({ requestId: "why-1", model: "m1", chosen: "r1", why: "only", band: "interactive" });
  expect(decision?.candidates.map(({ replica, verdict }) => [replica, verdict])).toEqual([
    ["r1", "chosen"],
    ["r2", "draining"],
  ]);
  expect(JSON.stringify(decision)).not.toMatch(/sk-|"hi"/);
  expect(list.every(({ requests }) => requests.every(({ head }) => !/x-llmgw/i.test(head)))).toBe(true);
});
