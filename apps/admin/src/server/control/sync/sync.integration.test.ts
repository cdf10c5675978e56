import { expect, test } from "vitest";
import { adopt } from "../../db/adopt.ts";
import { testDatabase } from "../../db/testing/test-database.ts";
import { cuttableProxy } from "../../testing/cuttable-proxy.ts";
import { eventually, post, ScriptedAgent, ScriptedRouter } from "../../testing/scripted-machines.ts";
import { startTestAdmin } from "../../testing/test-admin.ts";

const model = {
  id: "demo",
  source: { hub: "demo/demo" },
  engine: { name: "sim" as const },
  replicas: 1,
  resources: { memoryPerGpu: "8GiB" },
};
/** Longer than a test may take: a poll that is answered was woken. */
const longHold = { holdMs: 600_000, holdWhileWatchedMs: 600_000 };

test("a held poll is answered as soon as the version moves, on every admin of the database", async () => {
  await using database = await testDatabase();
  await using first = await startTestAdmin({ databaseUrl: database.url, settings: longHold });
  await using second = await startTestAdmin({ databaseUrl: database.url, settings: longHold });
  const routers = [new ScriptedRouter(first, "r1"), new ScriptedRouter(second, "r2")];
  for (const router of routers) await router.sync();
  const versionBefore = routers.map((router) => router.appliedVersion);
  const polls = Promise.all(routers.map((router) => router.sync()));
  await first.client.models.applySpec.mutate({ ...model, replicas: 0 });
  const answers = await polls;
  expect(answers.map((answer) => answer.kind)).toEqual(["table", "table"]);
  for (const [index, router] of routers.entries()) {
    expect(router.appliedVersion).toBeGreaterThan(versionBefore[index] ?? 0);
    expect(router.table?.models).toMatchObject([{ id: "demo", endpoints: [] }]);
  }
});

test("a poll with nothing to say is held, then answered unchanged", async () => {
  await using database = await testDatabase();
  const short = { holdMs: 100, holdWhileWatchedMs: 100 };
  await using admin = await startTestAdmin({ databaseUrl: database.url, settings: short });
  const agent = await new ScriptedAgent(admin, "a").join();
  expect(await agent.sync()).toMatchObject({ kind: "desired", run: [], stop: [] });
  expect(await agent.sync()).toMatchObject({ kind: "unchanged", version: agent.appliedVersion });
});

test("a second machine with a node's identity is refused with the holder's name; the same boot is taken at once", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url, timeScale: 1 });
  const agent = await new ScriptedAgent(admin, "a").join();
  await agent.sync();
  const copy = new ScriptedAgent(admin, "a", { machineId: "other-machine" });
  copy.credential = agent.credential;
  await expect(copy.sync()).rejects.toThrow(/identity of a is in use: machine machine-a \(boot boot-1/);
  await expect(new ScriptedAgent(admin, "a", { machineId: "other-machine" }).join()).rejects.toThrow(
    /node name "a" is in use: machine machine-a/,
  );
  const restarted = new ScriptedAgent(admin, "a");
  restarted.credential = agent.credential;
  expect(await restarted.sync()).toMatchObject({ kind: "desired" });
  await expect(agent.sync()).rejects.toThrow(/another agent process of a has taken over/);
  const rejoined = await new ScriptedAgent(admin, "a").join();
  expect(rejoined.nodeId).toBe((await admin.client.nodes.get.query({ node: "a" })).id);
});

test("a GPU that another live node has is refused to the second, and both nodes say so", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url, timeScale: 1 });
  const first = await new ScriptedAgent(admin, "a").join();
  await first.sync();
  await eventually(async () => (await admin.client.nodes.get.query({ node: "a" })).gpus.length === 1, "a has its GPU");
  const second = await new ScriptedAgent(admin, "b").join();
  const request = second.request();
  const gpus = first.request().report.gpus;
  const body = { ...request, report: { ...request.report, gpus } };
  await post(admin.url, { path: "agents.sync", token: second.credential, body });
  const node = await eventually(async () => {
    const found = await admin.client.nodes.get.query({ node: "b" });
    return found.gpuProbeError === null ? null : found;
  }, "b says whose GPU it is");
  expect(node).toMatchObject({ gpus: [], gpuProbeError: expect.stringContaining("is reported by a") });
});

test("a GPU that is not reported any more stays in the inventory as missing", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const agent = await new ScriptedAgent(admin, "a", { gpus: 2 }).join();
  await agent.sync();
  const request = agent.request();
  const gpus = request.report.gpus?.slice(0, 1) ?? [];
  const body = { ...request, appliedVersion: 0, report: { ...request.report, gpus } };
  await post(admin.url, { path: "agents.sync", token: agent.credential, body });
  const node = await eventually(async () => {
    const found = await admin.client.nodes.get.query({ node: "a" });
    return found.gpus.some((gpu) => gpu.missingSince !== null) ? found : null;
  }, "GPU 1 is missing");
  expect(node.gpus).toMatchObject([
    { index: 0, schedulable: true },
    { index: 1, schedulable: false, excludedBy: { code: "gpu_missing" } },
  ]);
});

test("with Postgres away, agents and routers hear that nothing changed, never an empty list", async () => {
  await using database = await testDatabase();
  await using proxy = await cuttableProxy(database.url);
  const short = { holdMs: 200, holdWhileWatchedMs: 200, credentialCacheMs: 1 };
  await using admin = await startTestAdmin({ databaseUrl: proxy.url, settings: short });
  const agent = await new ScriptedAgent(admin, "a").join();
  const router = new ScriptedRouter(admin, "r1");
  await agent.sync();
  await router.sync();
  const applied = [agent.appliedVersion, router.appliedVersion];
  proxy.cut();
  for (let round = 0; round < 3; round += 1) {
    expect(await agent.sync()).toMatchObject({ kind: "unchanged", version: applied[0] });
    expect(await router.sync()).toMatchObject({ kind: "unchanged", version: applied[1] });
  }
  proxy.mend();
  await eventually(async () => {
    try {
      return (await admin.client.nodes.list.query()).length === 1;
    } catch {
      return false; // the pool needs a moment to open new connections
    }
  }, "the admin serves again");
});

test("a reporter newer than the database makes the admin hold: no stop, no table, no decision, until it is adopted", async () => {
  await using database = await testDatabase();
  const short = { holdMs: 100, holdWhileWatchedMs: 100 };
  await using admin = await startTestAdmin({ databaseUrl: database.url, settings: short });
  const agent = await new ScriptedAgent(admin, "a").join();
  agent.appliedVersion = 1_000;
  expect(await agent.sync()).toMatchObject({ kind: "unchanged", version: 1_000 });
  expect(admin.admin.versions.held).toBe(true);
  await admin.client.models.applySpec.mutate(model);
  const router = new ScriptedRouter(admin, "r1");
  expect(await router.sync()).toMatchObject({ kind: "unchanged", version: 0 });
  expect(await admin.client.replicas.list.query({})).toEqual([]);

  expect(await adopt(database.prisma)).toBe(1_001);
  await eventually(async () => !admin.admin.versions.held, "the hold ends");
  expect(await agent.sync()).toMatchObject({ kind: "desired" });
  await eventually(async () => (await admin.client.replicas.list.query({})).length === 1, "the loop decides again");
});

test("one of another cluster is refused and keeps what it has", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const router = new ScriptedRouter(admin, "r1");
  router.clusterId = "cluster_other";
  await expect(router.sync()).rejects.toThrow(/belongs to cluster cluster_other; this admin runs cluster_/);
});

test("of two admins exactly one runs the loop, and the other takes over when it ends", async () => {
  await using database = await testDatabase();
  const quick = { leaseMs: 3_000, leaseRenewMs: 500 };
  await using survivor = await startTestAdmin({ databaseUrl: database.url, settings: quick });
  const leaderOf = async () => (await survivor.client.cluster.get.query()).leader;
  {
    await using _other = await startTestAdmin({ databaseUrl: database.url, settings: quick });
    await eventually(leaderOf, "somebody leads");
  }
  await survivor.client.models.applySpec.mutate(model);
  await eventually(async () => (await survivor.client.replicas.list.query({})).length === 1, "the survivor decides");
});
