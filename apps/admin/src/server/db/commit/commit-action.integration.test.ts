import { defaultControlSettings, type GpuFacts, judgeGpu, type PlacementRecord } from "@llmgw/domain";
import { beforeEach, describe, expect, test } from "vitest";
import { ensureCluster, readVersions } from "../cluster-row.ts";
import type { Database } from "../database.ts";
import { saveGpus } from "../gpu-store.ts";
import { acquireLease, type HeldLease } from "../lease.ts";
import { readSnapshot } from "../read-snapshot.ts";
import { testDatabase } from "../testing/test-database.ts";
import { commitAction } from "./commit-action.ts";

const settings = defaultControlSettings;
const spec = {
  id: "m",
  aliases: [],
  source: { kind: "hub", repo: "m" },
  engine: { name: "sim", version: null, args: [], env: {} },
  replicas: 1,
  pool: null,
  resources: { memoryPerGpuMib: 8_192, contextTokens: null, tp: 1, shareGpu: false },
  place: { nodes: [], labels: {}, gpus: [] },
  routing: {
    policy: "least-load",
    maxInflight: null,
    usageInjection: false,
    timeouts: { firstByteMs: null, idleMs: null, progressMs: null },
  },
  update: { maxSurge: 1 },
  drain: { graceMs: null },
  load: { maxMs: 1_800_000, stallMs: 300_000 },
};

/** One live node with one GPU, and pending replicas of one model. */
async function seed(database: Database, replicaIds: readonly string[]): Promise<HeldLease> {
  await ensureCluster(database);
  const now = new Date();
  await database.node.create({
    data: {
      ...{ id: "n1", name: "n1", machineId: "m1", bootId: "b1", credentialSha256: "c1", simulated: true },
      ...{ engines: [{ name: "sim", version: null }], lastSeenAt: now },
    },
  });
  const facts: GpuFacts = {
    ...{ uuid: "SIM-1", index: 0, vendor: "nvidia", name: "Simulated", pciBusId: null, totalMib: 24_576, usedMib: 0 },
    ...{ temperatureC: 40, utilizationRatio: 0, eccUncorrected: 0, migMode: "disabled", faults: [], processes: [] },
  };
  const health = judgeGpu({ facts, previous: null, bootId: "b1", nowMs: now.getTime() });
  await saveGpus(database, [{ ...facts, nodeId: "n1", previousIndex: null, missingSinceMs: null, health }]);
  await database.model.create({ data: { id: "m", spec } });
  for (const id of replicaIds) await database.replica.create({ data: { id, modelId: "m", modelRevision: 1 } });
  const lease = await acquireLease(database, { holder: "admin-1", leaseMs: 60_000 });
  if (lease === null) throw new Error("nobody else holds the lease");
  return lease;
}

const record = { candidates: [], outcome: { kind: "placed" } } as unknown as PlacementRecord;
const placing = (replicaId: string) => ({
  kind: "place_replica" as const,
  replicaId,
  fromPhase: "pending" as const,
  fromGeneration: 0,
  modelRevision: 1,
  shards: [{ rank: 0, nodeId: "n1", gpuUuids: ["SIM-1"], memoryMibPerGpu: 8_192 }],
  record,
  drainId: null,
});

describe("an action is dropped when what it relied on has changed", () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  beforeEach(async () => {
    database = await testDatabase();
    return () => database[Symbol.asyncDispose]();
  });

  test("a cordon between plan and commit keeps the replica from being placed", async () => {
    const { prisma } = database;
    const lease = await seed(prisma, ["r1"]);
    const before = await readVersions(prisma);
    await prisma.cordon.create({ data: { id: "c1", nodeId: "n1", owner: "operator", by: "ann", reason: "fans" } });
    const outcome = await commitAction({ database: prisma, settings }, placing("r1"), lease);
    expect(outcome).toMatchObject({ kind: "dropped", why: expect.stringContaining("cordoned by ann") });
    expect(await prisma.allocation.count()).toBe(0);
    expect(await readVersions(prisma)).toEqual(before);
    expect(await prisma.audit.count()).toBe(0);
  });

  test("two replicas planned onto one GPU get it once, and the database itself would refuse the second", async () => {
    const { prisma } = database;
    const lease = await seed(prisma, ["r1", "r2"]);
    const outcomes = await Promise.all(
      ["r1", "r2"].map((id) => commitAction({ database: prisma, settings }, placing(id), lease)),
    );
    expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual(["committed", "dropped"]);
    const [held] = await prisma.allocation.findMany();
    const other = held?.replicaId === "r1" ? "r2" : "r1";
    await prisma.shard.create({
      data: { replicaId: other, generation: 1, rank: 0, nodeId: "n1", memoryMibPerGpu: 1 },
    });
    const second = prisma.allocation.create({
      data: { replicaId: other, generation: 1, rank: 0, gpuUuid: "SIM-1", mib: 1 },
    });
    await expect(second).rejects.toThrow(/Unique constraint/);
  });

  test("a lease taken over fences the old holder's commits", async () => {
    const { prisma } = database;
    const lease = await seed(prisma, ["r1"]);
    await prisma.lease.updateMany({ data: { expiresAt: new Date(0) } });
    const next = await acquireLease(prisma, { holder: "admin-2", leaseMs: 60_000 });
    expect(next?.epoch).toBe(lease.epoch + 1);
    expect(await acquireLease(prisma, { holder: "admin-1", leaseMs: 60_000 })).toBeNull();
    expect(await commitAction({ database: prisma, settings }, placing("r1"), lease)).toEqual({ kind: "fenced" });
    expect(await prisma.allocation.count()).toBe(0);
  });
});

test("a placement takes the next version as its replica's, with its audit row, and reads back in a snapshot", async () => {
  await using database = await testDatabase();
  const { prisma } = database;
  const lease = await seed(prisma, ["r1"]);
  const before = await readVersions(prisma);
  const action = { ...placing("r1"), drainId: "drain_x" };
  expect(await commitAction({ database: prisma, settings }, action, lease)).toEqual({ kind: "committed" });
  const snapshot = await readSnapshot(prisma, lease.takenAtMs);
  expect(snapshot.version).toBe(before.version + 1);
  expect(snapshot.replicas).toMatchObject([
    { id: "r1", phase: "starting", generation: 1, stateVersion: snapshot.version, shards: [{ gpuUuids: ["SIM-1"] }] },
  ]);
  expect(await prisma.audit.findMany()).toMatchObject([
    { seq: 1n, verb: "replica.place", target: "r1", cause: "drain_x", actorKind: "system" },
  ]);
});

test("the audit refuses UPDATE, DELETE and TRUNCATE", async () => {
  await using database = await testDatabase();
  const { prisma } = database;
  const lease = await seed(prisma, ["r1"]);
  await commitAction({ database: prisma, settings }, placing("r1"), lease);
  await expect(prisma.audit.updateMany({ data: { actor: "nobody" } })).rejects.toThrow(/append-only/);
  await expect(prisma.audit.deleteMany()).rejects.toThrow(/append-only/);
  await expect(prisma.$executeRawUnsafe("TRUNCATE audit")).rejects.toThrow(/append-only/);
});
