import type { ReplicaView } from "@llmgw/api";
import type { Replica, Shard } from "@llmgw/domain";
import type { FailureRow } from "../../db/world.ts";
import { inflightOf, observationOf, type ViewContext } from "./context.ts";
import { instantOf, instantOrNull } from "./instants.ts";

export function replicaView(replica: Replica, context: ViewContext, failures: readonly FailureRow[]): ReplicaView {
  const { snapshot } = context.world;
  const replacedBy = snapshot.replicas.find((one) => one.replaces === replica.id && one.phase !== "stopped");
  return {
    id: replica.id,
    modelId: replica.modelId,
    modelRevision: replica.modelRevision,
    generation: replica.generation,
    phase: replica.phase,
    phaseSince: instantOf(replica.phaseSinceMs),
    createdAt: instantOf(replica.createdAtMs),
    reason: replica.reason,
    replaces: replica.replaces,
    replacedBy: replacedBy?.id ?? null,
    drainId: replica.drainId,
    notBefore: instantOrNull(replica.notBeforeMs),
    shards: replica.shards.map((shard) => shardView(shard, context)),
    failures: failures
      .filter((failure) => failure.replicaId === replica.id)
      .map((failure) => ({
        rank: failure.rank,
        which: failure.which,
        generation: failure.generation,
        nodeName: context.nodes.get(failure.nodeId)?.name ?? failure.nodeId,
        at: instantOf(failure.atMs),
        exit: failure.exit,
      })),
    routing: {
      state: routingState(replica),
      inflight: inflightOf(context, replica),
      routers: context.liveRouters.map((router) => {
        const word = router.endpoints.find(
          (one) => one.replicaId === replica.id && one.generation === replica.generation,
        );
        return {
          name: router.name,
          applied: router.appliedVersion >= replica.stateVersion,
          inflight: word?.inflight ?? 0,
          probe: word?.probe ?? "unknown",
          breaker: word?.breaker ?? "closed",
        };
      }),
    },
  };
}

function routingState(replica: Replica): "serving" | "moving" | "draining" | null {
  if (replica.offeredAtMs === null) return null;
  if (replica.phase === "moving" || replica.phase === "draining") return replica.phase;
  return replica.phase === "serving" || replica.phase === "starting" ? "serving" : null;
}

function shardView(shard: Shard, context: ViewContext): ReplicaView["shards"][number] {
  const node = context.nodes.get(shard.nodeId);
  const seen = observationOf(context, shard);
  const ageMs = context.world.snapshot.nowMs - (node?.lastSeenAtMs ?? 0);
  return {
    rank: shard.rank,
    generation: shard.generation,
    nodeId: shard.nodeId,
    nodeName: node?.name ?? shard.nodeId,
    gpus: shard.gpuUuids.map((uuid) => ({
      uuid,
      index: node?.gpus.find((gpu) => gpu.uuid === uuid)?.index ?? null,
    })),
    memoryMibPerGpu: shard.memoryMibPerGpu,
    stopRequestedAt: instantOrNull(shard.stopRequestedAtMs),
    observed:
      seen === null
        ? null
        : {
            phase: seen.phase,
            pid: seen.pid,
            url: seen.url,
            loadRatio: seen.loadRatio,
            loadMessage: seen.loadMessage,
            running: seen.activity?.running ?? null,
            waiting: seen.activity?.waiting ?? null,
            ageMs: Math.max(0, ageMs),
          },
  };
}
