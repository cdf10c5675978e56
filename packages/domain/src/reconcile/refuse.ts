import { type Model, startedModel } from "../cluster/model.ts";
import type { Cordon } from "../cluster/node.ts";
import type { Replica } from "../cluster/replica.ts";
import type { Action } from "./action.ts";

type On<K extends Action["kind"]> = Extract<Action, { readonly kind: K }>;

/** Actions whose checks need the replica's row (with its shards) and nothing else. */
export type ReplicaChecked = On<
  | "explain_pending"
  | "set_phase"
  | "offer_endpoint"
  | "set_proof"
  | "record_failure"
  | "stop_shard"
  | "release_shard"
  | "place_replica"
>;

/**
 * What an action relied on that does not hold any more, in words for the log; null where it all does. Every commit asks
 * it under its lock, whatever it is stored in. Of `place_replica` it judges the replica's row only.
 */
export function replicaRefusal(replica: Replica | undefined, action: ReplicaChecked): string | null {
  if (replica === undefined) return `there is no replica ${action.replicaId}`;
  switch (action.kind) {
    case "place_replica":
      return isAt(replica, action.fromPhase, action.fromGeneration);
    case "explain_pending":
      return replica.phase === "pending" ? null : `${replica.id} is not pending any more`;
    case "set_phase":
      return (
        isAt(replica, action.from, action.generation) ??
        (action.to === "stopped" && replica.shards.some((shard) => shard.releasedAtMs === null)
          ? `${replica.id} has shards that are not confirmed gone`
          : null)
      );
    case "offer_endpoint": {
      const waits = replica.offeredAtMs === null ? replica.phase === "starting" : replica.url !== action.url;
      return waits && replica.generation === action.generation
        ? null
        : `${replica.id} does not wait to be offered any more`;
    }
    case "set_proof":
      return replica.generation === action.generation
        ? null
        : `generation ${action.generation} of ${replica.id} is over`;
    case "record_failure":
    case "release_shard":
    case "stop_shard": {
      const { generation, rank } = action;
      const shard = replica.shards.find((found) => found.generation === generation && found.rank === rank);
      if (shard === undefined || shard.releasedAtMs !== null) return `shard ${replica.id}/${rank} is released already`;
      return action.kind === "stop_shard" && shard.stopRequestedAtMs !== null
        ? `shard ${replica.id}/${rank} was asked to stop already`
        : null;
    }
  }
}

/** The model of a placement: it is there, and still started at the revision that was placed. */
export function modelRefusal(model: Model | undefined, modelId: string, revision: number | null): string | null {
  if (model === undefined || model.deletedAtMs !== null) return `model ${modelId} is gone`;
  if (revision === null) return null;
  const now = startedModel(model).revision;
  return now === revision ? null : `${modelId} is started at revision ${now} now`;
}

export function cordonRefusal(
  cordons: readonly Pick<Cordon, "owner" | "gpuUuid">[] | undefined,
  action: On<"set_cordon"> | On<"lift_cordon">,
): string | null {
  if (cordons === undefined) return `there is no node ${action.nodeId}`;
  const has = cordons.some(({ owner, gpuUuid }) => owner === action.owner && gpuUuid === null);
  if (action.kind === "set_cordon") return has ? `${action.nodeId} has a cordon of ${action.owner} already` : null;
  return has ? null : `${action.nodeId} has no cordon of ${action.owner}`;
}

export function rolloutRefusal(model: Model | undefined, action: On<"set_rollout">): string | null {
  const goesOn = model?.rollout != null && model.rollout.failedAtMs === null && model.revision === action.revision;
  return goesOn ? null : `the rollout of ${action.modelId} to revision ${action.revision} is over`;
}

function isAt(replica: Replica, phase: Replica["phase"], generation: number): string | null {
  return replica.phase === phase && replica.generation === generation
    ? null
    : `${replica.id} is not ${phase} in generation ${generation} any more`;
}
