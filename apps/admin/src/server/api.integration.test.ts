import { permissions } from "@llmgw/api";
import { appRouter } from "@llmgw/api/server";
import { expect, test } from "vitest";
import { type Database, toJson } from "./db/database.ts";
import { acquireLease } from "./db/lease.ts";
import { testDatabase } from "./db/testing/test-database.ts";
import { post, ScriptedAgent, ScriptedRouter } from "./testing/scripted-machines.ts";
import { startTestAdmin } from "./testing/test-admin.ts";

const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>);
const mutations = procedures.filter(([, procedure]) => procedure._def.type === "mutation").map(([path]) => path);
const byText = (a: string, b: string) => a.localeCompare(b);
/** Reports, not orders: what they lead to is audited where the control loop decides it. */
const reports = new Set(["agents.sync", "routers.sync", "routers.reportUsage"]);

test("every procedure has a permission, and every permission a procedure", () => {
  expect(procedures.map(([path]) => path).toSorted(byText)).toEqual(Object.keys(permissions).toSorted(byText));
});

test("every mutation leaves an audit row of its own verb, with who asked and from where", async () => {
  await using database = await testDatabase();
  // Nobody decides anything here, so drains of the empty node stay open.
  await acquireLease(database.prisma, { holder: "nobody", leaseMs: 600_000 });
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  await new ScriptedAgent(admin, "a").join();
  const { drain } = await admin.client.nodes.setAvailability.mutate({ node: "a", target: "draining" });
  const model = {
    id: "m",
    source: { hub: "m" },
    engine: { name: "sim" },
    resources: { memoryPerGpu: "1GiB" },
  } as const;
  await admin.client.models.applySpec.mutate({ ...model, engine: { name: "sim", args: ["--old"] } });
  await runReplicaAndLoseGpu(database.prisma, await new ScriptedAgent(admin, "c").join());
  const inputs: Record<string, unknown> = {
    "nodes.setAvailability": { node: "a", target: "cordoned", reason: "why" },
    "models.applySpec": model,
    "models.acceptGap": { model: "m" },
    "models.rollback": { model: "m", revision: 1 },
    "models.scale": { model: "m", replicas: 0 },
    "replicas.drain": { replica: "m-aaaaa" },
    "models.delete": { model: "m" },
    "drains.extend": { drain: drain?.id, graceMs: 1_000 },
    "drains.force": { drain: drain?.id },
    "drains.stop": { drain: drain?.id },
    "nodes.acceptInventory": { node: "c" },
    "nodes.confirmLost": { node: "a" },
    "nodes.remove": { node: "a" },
    "access.createSignInLink": {},
    "keys.create": { name: "alice" },
    "keys.update": { key: "alice", models: ["m"] },
    "keys.revoke": { key: "alice" },
    "agents.join": { name: "b", machineId: "mb", bootId: "bb", simulated: true },
  };
  expect(mutations.filter((path) => !reports.has(path)).toSorted(byText)).toEqual(Object.keys(inputs).toSorted(byText));
  for (const [path, body] of Object.entries(inputs)) {
    const before = await database.prisma.audit.count({ where: { verb: path } });
    await post(admin.url, { path, token: path === "agents.join" ? admin.tokens.join : admin.tokens.admin, body });
    const rows = await database.prisma.audit.findMany({ where: { verb: path }, orderBy: { seq: "desc" } });
    expect(rows.length, path).toBe(before + 1);
    expect(rows[0], path).toMatchObject({ outcome: "ok", actorKind: "token", source: expect.stringContaining("127.") });
  }
  const { seq } = await database.prisma.cluster.findFirstOrThrow();
  expect(await database.prisma.audit.count(), "numbers have no gaps").toBe(Number(seq));
});

/** A replica that runs on a node, and a GPU that the node had and does not report any more. */
async function runReplicaAndLoseGpu(database: Database, agent: ScriptedAgent): Promise<void> {
  const { nodeId } = agent;
  const shard = { generation: 1, rank: 0, nodeId, memoryMibPerGpu: 1_024 };
  const replica = { id: "m-aaaaa", modelId: "m", modelRevision: 1, generation: 1, phase: "serving" };
  await database.replica.create({ data: { ...replica, shards: { create: shard } } });
  const health = { status: "unhealthy", reason: null, evidence: null, sinceMs: 0, bootId: "", schedulable: false };
  const facts = toJson(agent.request().report.gpus?.[0] ?? {});
  const gpu = { uuid: "SIM-c-0", nodeId, index: 0, facts, health: { ...health, evict: "none" } };
  await database.gpu.create({ data: { ...gpu, missingSince: new Date() } });
}

test("a refused call is one row for its actor, verb and minute, with a count", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const viewer = admin.clientOf(admin.tokens.viewer);
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const call = viewer.nodes.setAvailability.mutate({ node: "a", target: "cordoned" });
    await expect(call).rejects.toMatchObject({ data: { code: "FORBIDDEN" } });
  }
  const { rows } = await admin.client.audit.list.query({ outcome: "denied" });
  expect(rows).toMatchObject([{ actor: "viewer", verb: "nodes.setAvailability", target: "a", after: { attempts: 3 } }]);
});

test("what somebody tried to change and could not is recorded with its target and what they were told", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(admin.client.models.scale.mutate({ model: "none", replicas: 1 })).rejects.toThrow();
  }
  const { rows } = await admin.client.audit.list.query({ outcome: "failed" });
  expect(rows).toMatchObject([{ verb: "models.scale", target: "none", after: { attempts: 2 } }]);
  expect(JSON.stringify(rows[0]?.after)).toContain("none");
});

test("an unknown node is answered with the name that was probably meant", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  await new ScriptedAgent(admin, "gpu-box-1").join();
  await expect(admin.client.nodes.get.query({ node: "gpu-bux-1" })).rejects.toThrow(/Did you mean "gpu-box-1"\?/);
});

test("each credential works on its own surface and on no other", async () => {
  await using database = await testDatabase();
  await using admin = await startTestAdmin({ databaseUrl: database.url });
  const status = async (kind: keyof typeof admin.tokens, path: string) => {
    const headers = { authorization: `Bearer ${admin.tokens[kind]}` };
    return (await fetch(`${admin.url}/api/trpc/${path}`, { headers })).status;
  };
  expect(await status("viewer", "cluster.get")).toBe(200);
  expect(await status("operator", "nodes.list")).toBe(200);
  expect(await status("join", "cluster.get")).toBe(403);
  expect(await status("router", "nodes.list")).toBe(403);
  const sync = post(admin.url, {
    path: "routers.sync",
    token: admin.tokens.admin,
    body: new ScriptedRouter(admin, "r").request(),
  });
  await expect(sync).rejects.toThrow(/routers.sync needs router; admin has admin/);
});
