import type { Model } from "../cluster/model.ts";
import type { Node } from "../cluster/node.ts";
import type { Replica } from "../cluster/replica.ts";
import type { Shard, ShardObservation } from "../cluster/shard.ts";
import { testNowMs } from "./instant.ts";

export function aShard(overrides: Partial<Shard> = {}): Shard {
  return {
    replicaId: "m-aaaaa",
    generation: 1,
    rank: 0,
    nodeId: "node_a",
    gpuUuids: ["GPU-node_a-0"],
    memoryMibPerGpu: 20_480,
    shareGpu: false,
    stopRequestedAtMs: null,
    releasedAtMs: null,
    ...overrides,
  };
}

/** A pending replica of model `m` that has never been placed. */
export function aReplica(overrides: Partial<Replica> = {}): Replica {
  return {
    id: "m-aaaaa",
    modelId: "m",
    modelRevision: 1,
    generation: 0,
    phase: "pending",
    phaseSinceMs: testNowMs - 60_000,
    createdAtMs: testNowMs - 60_000,
    reason: null,
    replaces: null,
    drainId: null,
    stateVersion: 1,
    url: null,
    offeredAtMs: null,
    provenSinceMs: null,
    routersQuietSinceMs: null,
    failures: [],
    notBeforeMs: null,
    shards: [],
    ...overrides,
  };
}

/** A replica of `model` that serves from one shard on `node`, on the given GPUs (default: the node's first ones). */
export function aServingReplica(
  model: Model,
  node: Node,
  overrides: Partial<Replica> & { readonly gpuUuids?: readonly string[] } = {},
): Replica {
  const { gpuUuids = node.gpus.slice(0, model.spec.resources.tp ?? 1).map((gpu) => gpu.uuid), ...rest } = overrides;
  const id = rest.id ?? `${model.id}-aaaaa`;
  const generation = rest.generation ?? 1;
  const since = testNowMs - 600_000;
  return aReplica({
    modelId: model.id,
    modelRevision: model.revision,
    phase: "serving",
    phaseSinceMs: since,
    createdAtMs: since,
    offeredAtMs: since,
    provenSinceMs: since,
    url: "http://127.0.0.11:18000",
    shards: [
      aShard({
        replicaId: id,
        generation,
        nodeId: node.id,
        gpuUuids,
        memoryMibPerGpu: model.spec.resources.memoryPerGpuMib,
        shareGpu: model.spec.resources.shareGpu,
      }),
    ],
    ...rest,
    id,
    generation,
  });
}

/** What an agent reports of a shard that is ready and idle. */
export function anObservation(shard: Shard, overrides: Partial<ShardObservation> = {}): ShardObservation {
  return {
    replicaId: shard.replicaId,
    generation: shard.generation,
    rank: shard.rank,
    phase: "ready",
    pid: 7_001,
    url: "http://127.0.0.11:18000",
    gpuUuids: shard.gpuUuids,
    loadRatio: 1,
    loadMessage: null,
    startedAgoMs: 600_000,
    activity: { running: 0, waiting: 0, zeroReads: 0, sinceVersion: 0 },
    exit: null,
    ...overrides,
  };
}
