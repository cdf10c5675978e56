import type { Gpu, GpuFacts, Node } from "@llmgw/domain";
import { fromJson, millisecondsOf, millisecondsOrNull, type Queryable } from "./database.ts";

/** All nodes that were not removed, with their cordons, GPUs and last report. */
export async function readNodes(tx: Queryable, nodeIds?: readonly string[]): Promise<Node[]> {
  const rows = await tx.node.findMany({
    where: { removedAt: null, ...(nodeIds === undefined ? {} : { id: { in: [...nodeIds] } }) },
    include: { gpus: { orderBy: { index: "asc" } }, cordons: { orderBy: { since: "asc" } } },
    omit: { credentialSha256: true },
    orderBy: { name: "asc" },
  });
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    address: row.address,
    machineId: row.machineId,
    bootId: row.bootId,
    labels: fromJson(row.labels),
    simulated: row.simulated,
    agentVersion: row.agentVersion,
    engines: fromJson(row.engines),
    sources: fromJson(row.sources),
    registeredAtMs: millisecondsOf(row.registeredAt),
    lastSeenAtMs: millisecondsOrNull(row.lastSeenAt),
    returnsAtMs: fromJson(row.returns),
    lostConfirmedAtMs: millisecondsOrNull(row.lostConfirmedAt),
    appliedVersion: Number(row.appliedVersion),
    cordons: row.cordons.map((cordon) => ({
      id: cordon.id,
      nodeId: cordon.nodeId,
      gpuUuid: cordon.gpuUuid,
      owner: fromJson(cordon.owner),
      by: cordon.by,
      reason: cordon.reason,
      sinceMs: millisecondsOf(cordon.since),
      drainId: cordon.drainId,
    })),
    gpus: row.gpus.map(toGpu),
    observations: fromJson(row.observations),
  }));
}

export function toGpu(row: {
  uuid: string;
  nodeId: string;
  index: number;
  previousIndex: number | null;
  facts: unknown;
  health: unknown;
  missingSince: Date | null;
}): Gpu {
  return {
    ...fromJson<GpuFacts>(row.facts),
    uuid: row.uuid,
    index: row.index,
    nodeId: row.nodeId,
    previousIndex: row.previousIndex,
    missingSinceMs: millisecondsOrNull(row.missingSince),
    health: fromJson(row.health),
  };
}
