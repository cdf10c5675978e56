import type { Replica, Shard } from "@llmgw/domain";
import { fromJson, millisecondsOf, millisecondsOrNull, type Queryable } from "./database.ts";
import { Prisma } from "./generated/client.ts";

interface ShardRow {
  readonly replica_id: string;
  readonly generation: number;
  readonly rank: number;
  readonly node_id: string;
  readonly memory_mib_per_gpu: number;
  readonly share_gpu: boolean;
  readonly stop_requested_at: Date | null;
  readonly released_at: Date | null;
  readonly gpu_uuids: string[];
}

/** Replicas with their shards: those not released yet, and the ones of the present generation. */
export async function readReplicas(tx: Queryable, where: Prisma.ReplicaWhereInput): Promise<Replica[]> {
  const rows = await tx.replica.findMany({ where, omit: { record: true }, orderBy: { createdAt: "asc" } });
  const shards = await readShards(
    tx,
    rows.map((row) => row.id),
  );
  return rows.map((row) => ({
    id: row.id,
    modelId: row.modelId,
    modelRevision: row.modelRevision,
    generation: row.generation,
    phase: fromJson(row.phase),
    phaseSinceMs: millisecondsOf(row.phaseSince),
    createdAtMs: millisecondsOf(row.createdAt),
    reason: fromJson(row.reason),
    replaces: row.replaces,
    drainId: row.drainId,
    stateVersion: Number(row.stateVersion),
    url: row.url,
    offeredAtMs: millisecondsOrNull(row.offeredAt),
    provenSinceMs: millisecondsOrNull(row.provenSince),
    routersQuietSinceMs: millisecondsOrNull(row.routersQuietSince),
    failures: fromJson(row.failures),
    notBeforeMs: millisecondsOrNull(row.notBefore),
    shards: shards.get(row.id) ?? [],
  }));
}

async function readShards(tx: Queryable, replicaIds: readonly string[]): Promise<Map<string, Shard[]>> {
  const byReplica = new Map<string, Shard[]>();
  if (replicaIds.length === 0) return byReplica;
  const rows = await tx.$queryRaw<ShardRow[]>(Prisma.sql`
    SELECT s.replica_id, s.generation, s.rank, s.node_id, s.memory_mib_per_gpu, s.share_gpu, s.stop_requested_at,
           s.released_at,
           ARRAY(SELECT a.gpu_uuid FROM allocation a
                 WHERE a.replica_id = s.replica_id AND a.generation = s.generation AND a.rank = s.rank
                 ORDER BY a.ordinal) AS gpu_uuids
    FROM shard s JOIN replica r ON r.id = s.replica_id
    WHERE s.replica_id = ANY(${[...replicaIds]}) AND (s.released_at IS NULL OR s.generation = r.generation)
    ORDER BY s.replica_id, s.generation, s.rank`);
  for (const row of rows) {
    const list = byReplica.get(row.replica_id) ?? [];
    list.push({
      replicaId: row.replica_id,
      generation: row.generation,
      rank: row.rank,
      nodeId: row.node_id,
      gpuUuids: row.gpu_uuids,
      memoryMibPerGpu: row.memory_mib_per_gpu,
      shareGpu: row.share_gpu,
      stopRequestedAtMs: millisecondsOrNull(row.stop_requested_at),
      releasedAtMs: millisecondsOrNull(row.released_at),
    });
    byReplica.set(row.replica_id, list);
  }
  return byReplica;
}
