import type { CordonView, GpuView, NodeView } from "@llmgw/api";
import {
  type Cordon,
  drainScope,
  type Gpu,
  isConfirmedLost,
  type Node,
  nodeAvailability,
  type Reason,
  reason,
  whatClears,
} from "@llmgw/domain";
import { livenessOf, observationOf, type ViewContext } from "./context.ts";
import { instantOf, instantOrNull } from "./instants.ts";

export function nodeView(node: Node, context: ViewContext): NodeView {
  const { world, nodes } = context;
  const { snapshot } = world;
  const drains = snapshot.drains.filter((drain) => drain.nodeId === node.id && drainScope(drain) === "node");
  const known = new Set(snapshot.replicas.map((replica) => replica.id));
  return {
    id: node.id,
    name: node.name,
    address: node.address,
    availability: nodeAvailability(node, snapshot.drains),
    liveness: livenessOf(node, context),
    lastSeenAt: instantOrNull(node.lastSeenAtMs),
    lostConfirmedAt: isConfirmedLost(node) ? instantOrNull(node.lostConfirmedAtMs) : null,
    registeredAt: instantOf(node.registeredAtMs),
    simulated: node.simulated,
    labels: { ...node.labels },
    agentVersion: node.agentVersion,
    engines: node.engines.map((engine) => ({ ...engine })),
    cordons: node.cordons.map(cordonView),
    gpus: node.gpus.map((gpu) => gpuView(gpu, nodes.get(node.id) ?? node, context)),
    gpuProbeError: world.probeErrors.get(node.id) ?? null,
    shards: snapshot.replicas.flatMap((replica) =>
      replica.shards
        .filter((shard) => shard.nodeId === node.id && shard.releasedAtMs === null)
        .map((shard) => {
          const seen = observationOf(context, shard);
          return {
            replicaId: replica.id,
            modelId: replica.modelId,
            generation: shard.generation,
            rank: shard.rank,
            replicaPhase: replica.phase,
            gpuUuids: [...shard.gpuUuids],
            pid: seen?.pid ?? null,
            url: seen?.url ?? null,
            loadRatio: seen?.loadRatio ?? null,
          };
        }),
    ),
    orphans: node.observations
      .filter((seen) => seen.phase !== "exited" && !known.has(seen.replicaId))
      .map(({ replicaId, generation, rank, pid }) => ({ replicaId, generation, rank, pid })),
    openDrainId: drains.find((drain) => drain.endedAtMs === null)?.id ?? null,
    lastDrainId: drains.find((drain) => drain.endedAtMs !== null)?.id ?? null,
  };
}

function cordonView(cordon: Cordon): CordonView {
  return {
    owner: cordon.owner,
    by: cordon.by,
    reason: cordon.reason,
    since: instantOf(cordon.sinceMs),
    gpuUuid: cordon.gpuUuid,
    drainId: cordon.drainId,
  };
}

function gpuView(gpu: Gpu, node: Node, { world }: ViewContext): GpuView {
  const excludedBy = gpuExclusion(gpu, node);
  return {
    uuid: gpu.uuid,
    index: gpu.index,
    previousIndex: gpu.previousIndex,
    vendor: gpu.vendor,
    name: gpu.name,
    pciBusId: gpu.pciBusId,
    totalMib: gpu.totalMib,
    usedMib: gpu.usedMib,
    temperatureC: gpu.temperatureC,
    utilizationRatio: gpu.utilizationRatio,
    health: {
      status: gpu.health.status,
      reason: gpu.health.reason,
      evidence: gpu.health.evidence,
      since: instantOf(gpu.health.sinceMs),
      clears: whatClears(gpu.health),
    },
    missingSince: instantOrNull(gpu.missingSinceMs),
    schedulable: excludedBy === null,
    excludedBy,
    holders: world.snapshot.replicas.flatMap((replica) =>
      replica.shards
        .filter((shard) => shard.releasedAtMs === null && shard.gpuUuids.includes(gpu.uuid))
        .map((shard) => ({
          replicaId: replica.id,
          modelId: replica.modelId,
          rank: shard.rank,
          mib: shard.memoryMibPerGpu,
        })),
    ),
    foreign: gpu.processes.filter((one) => one.shard === null).map(({ pid, usedMib }) => ({ pid, usedMib })),
  };
}

/** Why nothing new goes to a GPU, of its own; null when nothing of its own keeps work away. */
export function gpuExclusion(gpu: Gpu, node: Node): Reason | null {
  const label = `${node.name} GPU ${gpu.index}`;
  if (gpu.missingSinceMs !== null) return reason("gpu_missing", { gpu: label, sinceMs: gpu.missingSinceMs });
  if (!gpu.health.schedulable) return gpu.health.reason;
  const cordon = node.cordons.find((one) => one.gpuUuid === gpu.uuid);
  if (cordon === undefined) return null;
  return reason("gpu_cordoned", { gpu: label, by: cordon.by, why: cordon.reason, sinceMs: cordon.sinceMs });
}
