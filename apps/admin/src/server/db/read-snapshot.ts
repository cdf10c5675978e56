import type { ClusterSnapshot, Drain, Move, Node, Replica, Router } from "@llmgw/domain";
import { type Database, fromJson, millisecondsOf, millisecondsOrNull, type Queryable, type Tx } from "./database.ts";
import { readModels } from "./read-models.ts";
import { readNodes } from "./read-nodes.ts";
import { readReplicas } from "./read-replicas.ts";

/** Stopped routers are kept this long, so that "may still be sending" can be answered. */
const ROUTERS_REMEMBERED_SQL = "24 hours";

/**
 * Everything a decision may look at, of one instant: all statements read in one REPEATABLE READ transaction.
 * `controlSinceMs` is when this admin took the control loop.
 */
export function readSnapshot(database: Database, controlSinceMs: number): Promise<ClusterSnapshot> {
  return database.$transaction((tx) => readSnapshotIn(tx, controlSinceMs), {
    isolationLevel: "RepeatableRead",
    timeout: 15_000,
    maxWait: 5_000,
  });
}

/** As `readSnapshot` within a transaction that is open already; it sees that transaction's own writes. */
export async function readSnapshotIn(tx: Tx, controlSinceMs: number): Promise<ClusterSnapshot> {
  const [clock] = await tx.$queryRaw<{ version: bigint; now: Date }[]>`
    SELECT version, clock_timestamp() AS now FROM cluster WHERE one = 1`;
  if (clock === undefined) throw new Error("the database has no cluster row");
  const nodes: Node[] = await readNodes(tx);
  const models = await readModels(tx);
  const drains = await readDrains(tx);
  const moves = await readMoves(
    tx,
    drains.map((drain) => drain.id),
  );
  const named = moves.flatMap((move) => [move.replicaId, ...(move.replacementId === null ? [] : [move.replacementId])]);
  const replicas: Replica[] = await readReplicas(tx, { OR: [{ phase: { not: "stopped" } }, { id: { in: named } }] });
  return {
    version: Number(clock.version),
    nowMs: millisecondsOf(clock.now),
    controlSinceMs,
    nodes,
    models,
    replicas,
    drains,
    moves,
    routers: await readRouters(tx),
  };
}

async function readDrains(tx: Tx): Promise<Drain[]> {
  const latest = await tx.$queryRaw<{ id: string }[]>`
    SELECT DISTINCT ON (node_id, gpu_uuid) id FROM drain WHERE ended_at IS NOT NULL AND replica_id IS NULL
    ORDER BY node_id, gpu_uuid, ended_at DESC, id DESC`;
  const rows = await tx.drain.findMany({
    where: { OR: [{ endedAt: null }, { id: { in: latest.map((row) => row.id) } }] },
    orderBy: { startedAt: "asc" },
  });
  return rows.map(toDrain);
}

/** One drain row as the domain has it. */
export function toDrain(row: {
  id: string;
  nodeId: string;
  gpuUuid: string | null;
  replicaId: string | null;
  replicaGeneration: number | null;
  by: string;
  reason: string;
  startedAt: Date;
  deadlineAt: Date;
  forcedAt: Date | null;
  forcedBy: string | null;
  endedAt: Date | null;
  result: string | null;
  losses: unknown;
}): Drain {
  return {
    id: row.id,
    nodeId: row.nodeId,
    gpuUuid: row.gpuUuid,
    replica: row.replicaId === null ? null : { id: row.replicaId, generation: row.replicaGeneration ?? 0 },
    by: row.by,
    reason: row.reason,
    startedAtMs: millisecondsOf(row.startedAt),
    deadlineAtMs: millisecondsOf(row.deadlineAt),
    forcedAtMs: millisecondsOrNull(row.forcedAt),
    forcedBy: row.forcedBy,
    endedAtMs: millisecondsOrNull(row.endedAt),
    result: fromJson(row.result),
    losses: fromJson(row.losses),
  };
}

/** The moves of these drains. */
export async function readMoves(tx: Queryable, drainIds: readonly string[]): Promise<Move[]> {
  const rows = await tx.move.findMany({
    where: { drainId: { in: [...drainIds] } },
    orderBy: [{ drainId: "asc" }, { replicaId: "asc" }],
  });
  return rows.map((row) => ({
    drainId: row.drainId,
    replicaId: row.replicaId,
    replacementId: row.replacementId,
    step: fromJson(row.step),
    stepAtMs: fromJson(row.stepAt),
    reason: fromJson(row.reason),
    lost: row.lost,
  }));
}

async function readRouters(tx: Tx): Promise<Router[]> {
  const ids = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM router WHERE last_seen_at > now() - ${ROUTERS_REMEMBERED_SQL}::interval`;
  const rows = await tx.router.findMany({ where: { id: { in: ids.map((row) => row.id) } }, orderBy: { name: "asc" } });
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    session: row.session,
    address: row.address,
    version: row.version,
    lastSeenAtMs: millisecondsOf(row.lastSeenAt),
    leftAtMs: millisecondsOrNull(row.leftAt),
    appliedVersion: Number(row.appliedVersion),
    endpoints: fromJson<{ endpoints?: Router["endpoints"] }>(row.report).endpoints ?? [],
  }));
}
