import type { Model } from "../cluster/model.ts";
import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { gpuLabel, type PlacementContext, placementContext } from "./context.ts";
import { evaluateGpu, firstFailure, nodeRules } from "./evaluate.ts";
import { sameType } from "./filters/group.ts";
import type { ShardPlacement } from "./record.ts";

/** A placement that was decided and is about to be committed. */
export interface PlannedPlacement {
  readonly modelId: string;
  readonly replicaId: string | null;
  readonly shards: readonly ShardPlacement[];
}

export type Recheck = { readonly ok: true } | { readonly ok: false; readonly reason: Reason };

/**
 * Does a placement still hold? Run inside the commit's transaction, over what it has locked: the same rules as `place`,
 * on the nodes and GPUs that were chosen, with the memory that was promised. `snapshot` needs the model, those nodes,
 * every unreleased shard on their GPUs and their open drains, and nothing else.
 */
export function recheckPlacement(
  planned: PlannedPlacement,
  snapshot: ClusterSnapshot,
  settings: ControlSettings,
): Recheck {
  const model = snapshot.models.find((found) => found.id === planned.modelId);
  if (model === undefined || model.deletedAtMs !== null) return no(reason("model_deleted", { model: planned.modelId }));
  const base = placementContext({ model, replicaId: planned.replicaId, snapshot, settings });
  const taken = new Set<string>();
  for (const shard of planned.shards) {
    const failure = recheckShard(shard, { ...base, model: promised(model, shard) }, taken);
    if (failure !== null) return no(failure);
  }
  return { ok: true };
}

function recheckShard(shard: ShardPlacement, context: PlacementContext, taken: Set<string>): Reason | null {
  const node = context.snapshot.nodes.find((found) => found.id === shard.nodeId);
  if (node === undefined) return reason("node_gone", { node: shard.nodeId });
  for (const rule of Object.values(nodeRules)) {
    const failure = rule(node, context);
    if (failure !== null) return failure;
  }
  const gpus = [];
  for (const uuid of shard.gpuUuids) {
    const gpu = node.gpus.find((found) => found.uuid === uuid);
    if (gpu === undefined) return reason("gpu_gone", { gpu: `${node.name} ${uuid}` });
    if (taken.has(uuid)) return reason("gpu_held", { gpu: gpuLabel(node, gpu), heldBy: "the same placement" });
    taken.add(uuid);
    const failure = firstFailure(evaluateGpu(gpu, node, context).results);
    if (failure !== null) return failure.reason;
    gpus.push(gpu);
  }
  const need = context.model.spec.resources.tp;
  if (gpus.length !== need) return reason("too_few_gpus", { node: node.name, found: gpus.length, need });
  return sameType({ node, gpus, context });
}

/** The model as the shard was promised it: its memory per GPU is what was decided, whatever the spec says by now. */
function promised(model: Model, shard: ShardPlacement): Model {
  const resources = { ...model.spec.resources, memoryPerGpuMib: shard.memoryMibPerGpu };
  return { ...model, spec: { ...model.spec, resources } };
}

const no = (why: Reason): Recheck => ({ ok: false, reason: why });
