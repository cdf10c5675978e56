import { request } from "undici";
import { expect, test } from "vitest";
import { Cluster } from "./harness/cluster.ts";
import { ctl } from "./harness/ctl.ts";
import { Load } from "./harness/load.ts";
import { twoGpuModel } from "./harness/models.ts";
import { waitFor } from "./harness/wait.ts";

test("the only node that fits serves until its deadline, finishes its streams, and is drained with the reason shown", async () => {
  await using cluster = await Cluster.start({ nodes: ["sim:2x80GiB", "sim:1x24GiB"], routers: 1 });
  await cluster.deploy(twoGpuModel);
  const [router] = cluster.routers;
  const url = router?.url ?? "";
  // 30 s streams: those that begin before the deadline end after it.
  const options = { urls: [url], apiKey: cluster.apiKey, model: "m2", perSecond: 4, longEvery: 4, longTokens: 600 };
  const load = new Load(options).start();

  const unwilling = await ctl(cluster, ["drain", "node-a", "--yes", "--grace", "20s"]);
  expect(unwilling.code, unwilling.output).toBe(2);
  expect(unwilling.output).toContain("--accept-loss m2");
  const started = await ctl(cluster, [
    "drain",
    "node-a",
    "--yes",
    "--grace",
    "20s",
    "--accept-loss",
    "m2",
    "--no-wait",
  ]);
  expect(started.code, started.output).toBe(0);
  const drain = (await cluster.client.drains.list.query({ node: "node-a" }))[0];
  const deadline = Date.parse(drain?.deadlineAt ?? "");
  expect(deadline - Date.parse(drain?.startedAt ?? "")).toBe(20_000);

  const blocked = await waitFor("the drain to say what blocks it", async () => {
    const view = await cluster.client.drains.get.query({ drain: drain?.id ?? "" });
    return view.moves.find((move) => move.reason?.code === "waits_for_capacity");
  });
  expect(JSON.stringify(blocked.reason)).toContain("node-b");

  await waitFor("the deadline", () => Date.now() > deadline - 300, { everyMs: 20 });
  const untilDeadline = load.outcomes.filter((outcome) => outcome.endedAt < deadline);
  expect(untilDeadline.filter((outcome) => !outcome.ok)).toEqual([]);
  await waitFor("new requests to be refused", async () => {
    const answer = await ask(url, cluster.apiKey);
    if (answer.status !== 503) return false;
    expect(answer.body).toMatchObject({ error: { code: "no_endpoint", message: expect.stringContaining("m2") } });
    expect(Number(answer.retryAfter)).toBeGreaterThan(0);
    return true;
  });
  await load.finish();
  // Everything that was accepted was answered to its end; what came later was refused in words.
  expect(load.failed.filter((outcome) => !outcome.detail.startsWith("status 503"))).toEqual([]);

  const ended = await waitFor("the drain to end", async () => {
    const view = await cluster.client.drains.get.query({ drain: drain?.id ?? "" });
    return view.endedAt === null ? null : view;
  });
  expect(ended.result).toBe("completeWithLosses");
  expect(ended.losses.map((loss) => loss.modelId)).toEqual(["m2"]);
  expect(ended.deadlineAt).toBe(drain?.deadlineAt);
  const node = await cluster.client.nodes.get.query({ node: "node-a" });
  expect(node).toMatchObject({ availability: "drained", shards: [] });
  const model = await cluster.client.models.get.query({ model: "m2" });
  expect(model).toMatchObject({ desired: 1, serving: 0 });
  expect(model.reason?.code).toBe("no_fit");

  const uncordoned = await ctl(cluster, ["uncordon", "node-a"]);
  expect(uncordoned.code, uncordoned.output).toBe(0);
  await cluster.serving("m2", 1);
  expect((await ask(url, cluster.apiKey)).status).toBe(200);
});

async function ask(url: string, apiKey: string): Promise<{ status: number; body: unknown; retryAfter: unknown }> {
  const answer = await request(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "m2", max_tokens: 1, messages: [{ role: "user", content: "hi" }] }),
  });
  return { status: answer.statusCode, body: await answer.body.json(), retryAfter: answer.headers["retry-after"] };
}
