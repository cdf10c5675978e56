import { describe, expect, test } from "vitest";
import { heldEngine } from "./held-engine.ts";
import { answering, documentOf, errorOf, plainBody, useKit } from "./kit.ts";
import type { RawClient } from "./raw-client.ts";
import { type TestRouter, waitFor } from "./test-router.ts";

const { engine, router, client, ask } = useKit();

const keys = ["one", "two"].map((id) => ({ id, secret: `sk-${id}`, models: ["*"] }));

/** Sends a request that the engine can tell by its name, and waits until it is in the queue as the `depth`-th one. */
async function queued(
  target: TestRouter,
  { name, band, key = "sk-one", depth }: { name: string; band?: string; key?: string; depth: number },
): Promise<RawClient> {
  const asking = await client(target);
  const headers = band === undefined ? [] : [`x-llmgw-priority: ${band}`];
  asking.post(`{"model":"m1","n":"${name}"}`, { key, headers });
  await waitFor(() => target.registry.model("m1")?.queued === depth);
  return asking;
}

describe("a queue", () => {
  test("lets clients leave at once: they never reach the engine, and the rest keeps its order", async () => {
    const held = heldEngine();
    const fake = await engine(held.script);
    const target = await router(documentOf([fake], {}, [{ maxInflight: 1 }]));
    const running = await client(target);
    running.post('{"model":"m1","n":"running"}');
    await waitFor(() => held.held() === 1);
    const bands = ["interactive", "interactive", "standard", "standard", "interactive", "standard"];
    const waiting: RawClient[] = [];
    for (const [index, band] of bands.entries()) {
      waiting.push(await queued(target, { name: `${index + 1}`, band, depth: index + 1 }));
    }
    waiting[1]?.reset();
    waiting[3]?.close();
    await waitFor(() => target.registry.model("m1")?.queued === 4);
    expect([0, 1, 2].map((rank) => target.registry.model("m1")?.depth(rank))).toEqual([2, 2, 0]);
    for (let round = 1; round <= 5; round += 1) {
      await waitFor(() => held.held() === 1);
      held.release();
    }
    expect((await running.answer()).status).toBe(200);
    await target.ended(7);
    expect(held.order).toEqual(["running", "1", "5", "3", "6"]);
    expect(target.ends.filter(({ outcome }) => outcome === "client_closed")).toHaveLength(2);
  });

  test("of a model that is taken away is answered with that, not with a timeout", async () => {
    const held = heldEngine();
    const document = documentOf([await engine(held.script)], {}, [{ maxInflight: 1 }]);
    const target = await router(document);
    const running = await client(target);
    running.post('{"model":"m1","n":"running"}');
    await waitFor(() => held.held() === 1);
    const waiting = await queued(target, { name: "1", depth: 1 });
    await target.reload({ ...document, models: [] });
    const got = await waiting.answer();
    expect([got.status, errorOf(got.body).code]).toEqual([404, "model_not_found"]);
    held.release();
    expect((await running.answer()).status).toBe(200);
  });

  test("is fair between keys: one with many requests delays another's first by one", async () => {
    const held = heldEngine();
    const target = await router(documentOf([await engine(held.script)], { keys }, [{ maxInflight: 1 }]));
    (await client(target)).post('{"model":"m1","n":"running"}');
    await waitFor(() => held.held() === 1);
    for (let count = 1; count <= 5; count += 1) await queued(target, { name: `loud-${count}`, depth: count });
    await queued(target, { name: "quiet", key: "sk-two", depth: 6 });
    for (let round = 1; round <= 7; round += 1) {
      await waitFor(() => held.held() === 1);
      held.release();
      await target.ended(round);
    }
    expect(held.order.slice(0, 4)).toEqual(["running", "loud-1", "quiet", "loud-2"]);
  });

  test("of a low band is not starved by a high one: of ten dispatches one is its own", async () => {
    const held = heldEngine();
    const target = await router(documentOf([await engine(held.script)], {}, [{ maxInflight: 1 }]));
    (await client(target)).post('{"model":"m1","n":"running"}');
    await waitFor(() => held.held() === 1);
    let depth = 0;
    for (let count = 1; count <= 3; count += 1) {
      depth += 1;
      await queued(target, { name: "low", band: "batch", depth });
    }
    for (let count = 1; count <= 35; count += 1) {
      depth += 1;
      await queued(target, { name: "high", depth });
    }
    for (let round = 1; round <= 36; round += 1) {
      await waitFor(() => held.held() === 1);
      held.release();
      await target.ended(round);
    }
    expect(held.order.filter((name) => name === "low")).toHaveLength(3);
    const text = await target.metrics.registry.metrics();
    expect(text).toContain('llmgw_queue_wait_seconds_count{band="batch",outcome="granted"} 3');
    for (let round = 37; round <= 39; round += 1) {
      await waitFor(() => held.held() === 1);
      held.release();
      await target.ended(round);
    }
  });

  test("of a full model delays no other model, nor does one of a model without endpoints", async () => {
    const held = heldEngine();
    const [busy, idle] = [await engine(held.script), await engine(answering, ["m2"])];
    const document = documentOf([busy], { keys, admission: { noEndpointWaitMs: "30s" } }, [{ maxInflight: 1 }]);
    const more = [
      { id: "m2", endpoints: [{ id: "r2", url: idle.url, engine: "vllm" }] },
      { id: "m3", endpoints: [] },
    ];
    const target = await router({ ...document, models: [...document.models, ...more] });
    for (let count = 0; count < 10; count += 1) (await client(target)).post('{"model":"m1","n":"x"}');
    for (let count = 0; count < 10; count += 1) (await client(target)).post('{"model":"m3"}');
    await waitFor(() => target.registry.model("m1")?.queued === 9 && target.registry.model("m3")?.queued === 10);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(target, '{"model":"m2"}')));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(target.registry.model("m1")?.queued).toBe(9);
  });

  test("holds a burst back at the limits of the endpoints, however old their numbers are", async () => {
    const engines = [heldEngine(), heldEngine()];
    const list = [await engine(engines[0]?.script ?? answering), await engine(engines[1]?.script ?? answering)];
    const limits = [{ maxInflight: 8 }, { maxInflight: 8 }];
    const target = await router(documentOf(list, { scrape: { intervalMs: "5s" } }, limits));
    for (let count = 0; count < 100; count += 1) (await client(target)).post('{"model":"m1","n":"x"}');
    await waitFor(() => target.registry.model("m1")?.queued === 84);
    let done = 0;
    while (done < 100) {
      await waitFor(() => engines.some((item) => item.held() > 0));
      for (const item of engines) {
        if (item.held() === 0) continue;
        item.release();
        done += 1;
      }
      await target.ended(done);
    }
    expect(engines.map((item) => item.most())).toEqual([8, 8]);
  });

  test("keeps a low band at its ceiling while the high one goes on to the limit", async () => {
    const held = heldEngine();
    const target = await router(documentOf([await engine(held.script)], {}, [{ maxInflight: 10 }]));
    for (let count = 0; count < 12; count += 1) {
      (await client(target)).post('{"model":"m1","n":"low"}', { headers: ["x-llmgw-priority: batch"] });
    }
    await waitFor(() => held.held() === 6 && target.registry.model("m1")?.queued === 6);
    for (let count = 0; count < 4; count += 1) (await client(target)).post('{"model":"m1","n":"high"}');
    await waitFor(() => held.held() === 10);
    expect(held.order.filter((name) => name === "high")).toHaveLength(4);
    for (let round = 1; round <= 16; round += 1) {
      await waitFor(() => held.held() > 0);
      held.release();
      await target.ended(round);
    }
  });
});

describe("bands of one's own", () => {
  test("are those that keys and requests may name", async () => {
    const fake = await engine(answering);
    const admission = { bands: ["gold", "lead"], ceilings: [1, 0.5] };
    const named = [{ id: "one", secret: "sk-one", models: ["*"], maxBand: "gold" }];
    const target = await router(documentOf([fake], { admission, keys: named }));
    expect((await ask(target, plainBody, { headers: ["x-llmgw-priority: lead"] })).status).toBe(200);
    const bad = await ask(target, plainBody, { headers: ["x-llmgw-priority: batch"] });
    expect([bad.status, errorOf(bad.body).message]).toEqual([400, expect.stringContaining("gold, lead")]);
    expect(await target.metrics.registry.metrics()).toContain('llmgw_admission_queue_depth{band="lead"} 0');
  });
});

describe("a model that nothing serves", () => {
  test("is a 503 at once", async () => {
    const got = await ask(await router(documentOf([])), plainBody);
    expect([got.status, errorOf(got.body).code, got.headers["retry-after"]]).toEqual([503, "no_endpoint", "5"]);
  });

  test("is waited for where that is allowed, and served when an endpoint comes", async () => {
    const target = await router(documentOf([], { admission: { noEndpointWaitMs: "30s" } }));
    const waiting = await queued(target, { name: "1", depth: 1 });
    const fake = await engine(answering);
    await target.reload(documentOf([fake], { admission: { noEndpointWaitMs: "30s" } }));
    expect((await waiting.answer()).status).toBe(200);
  });

  test("is a 503 when its wait is over, also while the wait for a place would go on", async () => {
    const target = await router(documentOf([], { admission: { noEndpointWaitMs: 50, waitBudgetMs: "30s" } }));
    const got = await ask(target, plainBody);
    expect([got.status, errorOf(got.body).code]).toEqual([503, "no_endpoint"]);
  });
});
