import { expect, test } from "vitest";
import { testDatabase } from "../db/testing/test-database.ts";
import { eventually, runMachines, ScriptedAgent, ScriptedRouter } from "../testing/scripted-machines.ts";
import { startTestAdmin, type TestAdmin } from "../testing/test-admin.ts";

const model = {
  id: "demo",
  source: { hub: "demo/demo" },
  engine: { name: "sim" as const },
  replicas: 1,
  resources: { memoryPerGpu: "8GiB" },
};

async function serving(admin: TestAdmin, count = 1) {
  return await eventually(async () => {
    const replicas = await admin.client.replicas.list.query({ model: "demo" });
    const found = replicas.filter((one) => one.phase === "serving");
    return found.length === count ? found : null;
  }, `${count} replicas of demo serve`);
}

test("a drain moves its replica first, ends complete, and every step of it is in the audit with the drain as cause", {
  timeout: 180_000,
}, async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const agents = await Promise.all(["a", "b"].map((name) => new ScriptedAgent(admin, name).join()));
  const router = new ScriptedRouter(admin, "router-1");
  await using _machines = runMachines(...agents, router);
  await admin.client.models.applySpec.mutate(model);
  const [before] = await serving(admin);
  const from = before?.shards[0]?.nodeName ?? "";
  const to = from === "a" ? "b" : "a";
  router.inflight.set(before?.id ?? "", 2);

  const preview = await admin.client.drains.preview.query({ nodes: [from] });
  expect(preview.moves).toMatchObject([
    { replicaId: before?.id, outcome: "moves", target: `${to} GPU 0`, inflight: 0 },
  ]);
  const change = await admin.client.nodes.setAvailability.mutate({
    node: from,
    target: "draining",
    reason: "new fans",
    plan: preview.plan,
  });
  const drainId = change.drain?.id ?? "";
  expect(change.node.availability).toBe("draining");

  // The replacement serves before the original turns draining; with 2 in flight it stays.
  const draining = await eventually(async () => {
    const { replica } = await admin.client.replicas.get.query({ replica: before?.id ?? "" });
    return replica.phase === "draining" && replica.routing.inflight === 2 ? replica : null;
  }, "the original drains with its requests in flight");
  const [replacement] = await serving(admin);
  expect(replacement).toMatchObject({ replaces: draining.id, shards: [{ nodeName: to }] });

  router.inflight.clear();
  const drain = await eventually(async () => {
    const found = await admin.client.drains.get.query({ drain: drainId });
    return found.endedAt === null ? null : found;
  }, "the drain ends");
  expect(drain).toMatchObject({ result: "complete", losses: [], moves: [{ step: "stopped", lost: false }] });
  expect(await admin.client.nodes.get.query({ node: from })).toMatchObject({ availability: "drained", shards: [] });

  const { rows } = await admin.client.audit.list.query({ cause: drainId, limit: 500 });
  const verbs = rows.map((row) => `${row.verb} ${row.target}`);
  expect(verbs).toEqual(
    expect.arrayContaining([
      `nodes.setAvailability ${from}`,
      `replica.moving ${draining.id}`,
      `replica.create ${replacement?.id}`,
      `replica.place ${replacement?.id}`,
      `replica.draining ${draining.id}`,
      `shard.stop ${draining.id}/0`,
      `shard.release ${draining.id}/0`,
      `drain.end ${drainId}`,
    ]),
  );
  const seqs = rows.map((row) => row.seq);
  expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
});

test("a drain asked for twice is one drain, a stale preview is refused with the new one, uncordon cancels", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const agents = await Promise.all(["a", "b"].map((name) => new ScriptedAgent(admin, name).join()));
  await using _machines = runMachines(...agents);
  await admin.client.models.applySpec.mutate(model);
  const [replica] = await serving(admin);
  const node = replica?.shards[0]?.nodeName ?? "";
  const other = node === "a" ? "b" : "a";
  const { plan } = await admin.client.drains.preview.query({ nodes: [node] });
  await admin.client.nodes.setAvailability.mutate({ node: other, target: "cordoned", reason: "mine" });

  const stale = admin.client.nodes.setAvailability.mutate({ node, target: "draining", plan });
  await expect(stale).rejects.toMatchObject({
    data: { code: "PRECONDITION_FAILED", fresh: { moves: [{ outcome: "cannot_move" }] } },
  });
  const first = await admin.client.nodes.setAvailability.mutate({ node, target: "draining", graceMs: 600_000 });
  const second = await admin.client.nodes.setAvailability.mutate({ node, target: "draining", graceMs: 300_000 });
  expect(second.drain?.id).toBe(first.drain?.id);
  expect(Date.parse(second.drain?.deadlineAt ?? "")).toBeLessThan(Date.parse(first.drain?.deadlineAt ?? ""));
  const back = await admin.client.nodes.setAvailability.mutate({ node, target: "active" });
  expect(back).toMatchObject({ node: { availability: "active" }, drain: { result: "cancelled" } });
  expect(await serving(admin)).toMatchObject([{ id: replica?.id }]);
});
