import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Cluster } from "./harness/cluster.ts";
import { drainAndFollow } from "./harness/ctl.ts";
import { enginePids } from "./harness/engines.ts";
import { Load } from "./harness/load.ts";
import { oneGpuModel } from "./harness/models.ts";
import { Watcher } from "./harness/watcher.ts";

/** 60 s at 50 ms a token. */
const longTokens = 1_200;

test("draining the node of the only replica under load fails no request, cuts none and empties the node", async () => {
  await using cluster = await Cluster.start({ nodes: ["sim:1x80GiB", "sim:1x80GiB"], routers: 2 });
  await cluster.deploy(oneGpuModel);
  const original = (await cluster.client.replicas.list.query({ model: "m1" }))[0];
  const from = original?.shards[0]?.nodeName ?? "";

  const watcher = new Watcher(cluster, "m1").start();
  const urls = cluster.routers.map(({ url }) => url);
  const load = new Load({
    urls,
    apiKey: cluster.apiKey,
    model: "m1",
    perSecond: 20,
    longEvery: 40,
    longTokens,
  }).start();
  await sleep(5_000);
  const { code, output } = await drainAndFollow(cluster, from, ["--reason", "replace PSU 2"]);
  await sleep(2_000);
  await load.finish();
  await watcher.stop();

  expect(load.failed).toEqual([]);
  expect(load.outcomes.filter(({ kind }) => kind === "long").length).toBeGreaterThan(3);
  expect(code, output).toBe(0);
  expect(watcher.leastServing).toBeGreaterThanOrEqual(1);
  expect(watcher.mostReplicas).toBeLessThanOrEqual(2);

  const node = await cluster.client.nodes.get.query({ node: from });
  expect(node.availability).toBe("drained");
  expect(node.shards).toEqual([]);
  const [drain] = await cluster.client.drains.list.query({ node: from });
  expect(drain?.result).toBe("complete");
  const moved = await cluster.client.replicas.list.query({ model: "m1" });
  expect(moved.map((replica) => replica.shards[0]?.nodeName)).not.toContain(from);
  expect(enginePids(cluster.dir)).toHaveLength(1);

  const { rows } = await cluster.client.audit.list.query({ cause: drain?.id ?? "", limit: 200 });
  const verbs = rows.map(({ verb }) => verb).reverse();
  expect(verbs.length).toBeGreaterThan(4);
  const asked = (await cluster.client.audit.list.query({ verb: "nodes.setAvailability" })).rows[0];
  expect(asked).toMatchObject({ reason: "replace PSU 2", outcome: "ok", actorKind: "token" });
});
