import type { ClusterSnapshot, Drain, Move, PlacementRecord, Replica, ShardExit } from "@llmgw/domain";
import { type Database, fromJson, millisecondsOf, type Queryable } from "./database.ts";
import { leaseHolder } from "./lease.ts";
import { readReplicas } from "./read-replicas.ts";
import { readMoves, readSnapshotIn, toDrain } from "./read-snapshot.ts";

export interface FailureRow {
  readonly replicaId: string;
  readonly rank: number;
  readonly which: "first" | "latest";
  readonly generation: number;
  readonly nodeId: string;
  readonly atMs: number;
  readonly exit: ShardExit;
}

/** What people are shown is made from: the snapshot that decisions are made from, and what only people want to know. */
export interface World {
  readonly snapshot: ClusterSnapshot;
  /** Why a node's GPUs could not be read, by node id. */
  readonly probeErrors: ReadonlyMap<string, string>;
  readonly failures: readonly FailureRow[];
  /** Who runs the control loop; null when nobody does. */
  readonly leader: string | null;
}

export function readWorld(database: Database): Promise<World> {
  return database.$transaction((tx) => readWorldIn(tx), {
    isolationLevel: "RepeatableRead",
    timeout: 15_000,
    maxWait: 5_000,
  });
}

/** As `readWorld` within a transaction that is open already. */
export async function readWorldIn(tx: Parameters<typeof readSnapshotIn>[0]): Promise<World> {
  const leader = await leaseHolder(tx);
  const snapshot = await readSnapshotIn(tx, leader?.takenAtMs ?? 0);
  const errors = await tx.node.findMany({
    where: { removedAt: null, gpuProbeError: { not: null } },
    select: { id: true, gpuProbeError: true },
  });
  return {
    snapshot,
    probeErrors: new Map(errors.map((row) => [row.id, row.gpuProbeError ?? ""])),
    failures: await readFailures(
      tx,
      snapshot.replicas.map((replica) => replica.id),
    ),
    leader: leader?.holder ?? null,
  };
}

export async function readFailures(database: Queryable, replicaIds: readonly string[]): Promise<FailureRow[]> {
  const rows = await database.shardFailure.findMany({
    where: { replicaId: { in: [...replicaIds] } },
    orderBy: [{ replicaId: "asc" }, { rank: "asc" }, { at: "asc" }],
  });
  return rows.map((row) => ({
    replicaId: row.replicaId,
    rank: row.rank,
    which: fromJson(row.which),
    generation: row.generation,
    nodeId: row.nodeId,
    atMs: millisecondsOf(row.at),
    exit: fromJson(row.exit),
  }));
}

/** Stopped replicas, the latest first: what ran before. */
export function readStoppedReplicas(database: Database, limit: number): Promise<Replica[]> {
  return database.replica
    .findMany({ where: { phase: "stopped" }, orderBy: { phaseSince: "desc" }, take: limit, select: { id: true } })
    .then((rows) => readReplicas(database, { id: { in: rows.map((row) => row.id) } }));
}

export async function readReplicaById(database: Database, id: string): Promise<Replica | null> {
  return (await readReplicas(database, { id }))[0] ?? null;
}

/** The record of a replica's latest placement, or of why it has none. */
export async function readPlacementRecord(database: Database, replicaId: string): Promise<PlacementRecord | null> {
  const row = await database.replica.findUnique({ where: { id: replicaId }, select: { record: true } });
  return fromJson<PlacementRecord | null>(row?.record ?? null);
}

/** A drain with its moves, however old; null when there is none of that id. */
export async function readDrain(
  database: Queryable,
  id: string,
): Promise<{ drain: Drain; moves: Move[]; modelIds: ReadonlyMap<string, string> } | null> {
  const row = await database.drain.findUnique({ where: { id } });
  if (row === null) return null;
  const moves = await readMoves(database, [id]);
  return { drain: toDrain(row), moves, modelIds: await readModelIds(database, [id]) };
}

/** All drains, or those of one node, the latest first. */
export async function readDrains(
  database: Queryable,
  filter: { readonly nodeId?: string; readonly open?: boolean },
): Promise<Drain[]> {
  const rows = await database.drain.findMany({
    where: {
      ...(filter.nodeId === undefined ? {} : { nodeId: filter.nodeId }),
      ...(filter.open === undefined ? {} : { endedAt: filter.open ? null : { not: null } }),
    },
    orderBy: { startedAt: "desc" },
    take: 500,
  });
  return rows.map(toDrain);
}

/** Replica id → model id for the moves of these drains. */
export async function readModelIds(
  database: Queryable,
  drainIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.move.findMany({
    where: { drainId: { in: [...drainIds] } },
    select: { replicaId: true, modelId: true },
  });
  return new Map(rows.map((row) => [row.replicaId, row.modelId]));
}
