import type { Drain, Move } from "../cluster/drain.ts";
import type { Rollout } from "../cluster/model.ts";
import type { Cordon } from "../cluster/node.ts";
import type { Replica, ReplicaPhase } from "../cluster/replica.ts";
import type { Shard } from "../cluster/shard.ts";
import { describeReason } from "../reasons/catalogue.ts";
import type { Action } from "./action.ts";

/** When an action takes effect: the clock, and the version that its transaction takes (see `takesVersion`). */
export interface Instant {
  readonly nowMs: number;
  readonly version: number;
}

type On<K extends Action["kind"]> = Extract<Action, { readonly kind: K }>;
type ReplicaAction = Extract<Action, { readonly replicaId: string }>;
type OwnAction = Exclude<ReplicaAction, On<"create_replica"> | On<"set_move">>;

const inTable: ReadonlySet<ReplicaPhase> = new Set(["serving", "moving", "draining"]);

/** The replica that `create_replica` makes. */
export function createdReplica(action: On<"create_replica">, at: Instant): Replica {
  return {
    id: action.replicaId,
    modelId: action.modelId,
    modelRevision: action.modelRevision,
    generation: 0,
    phase: "pending",
    phaseSinceMs: at.nowMs,
    createdAtMs: at.nowMs,
    reason: null,
    replaces: action.replaces,
    drainId: action.drainId,
    stateVersion: 0,
    url: null,
    offeredAtMs: null,
    provenSinceMs: null,
    routersQuietSinceMs: null,
    failures: [],
    notBeforeMs: null,
    shards: [],
  };
}

/** The replica after the action. `shareGpu` is its model's, needed where the action places it. */
export function applyToReplica(
  replica: Replica,
  action: OwnAction,
  at: Instant & { readonly shareGpu: boolean },
): Replica {
  switch (action.kind) {
    case "place_replica":
      return placed(replica, action, at);
    case "explain_pending":
      return { ...replica, reason: action.reason };
    case "set_phase":
      return phased(replica, action, at);
    case "offer_endpoint":
      return {
        ...replica,
        offeredAtMs: replica.offeredAtMs ?? at.nowMs,
        url: action.url,
        provenSinceMs: null,
        routersQuietSinceMs: null,
        stateVersion: at.version,
      };
    case "set_proof":
      return {
        ...replica,
        provenSinceMs: action.provenSinceMs,
        routersQuietSinceMs: action.routersQuietSinceMs,
      };
    case "record_failure":
      return replica;
    case "stop_shard":
      return withShard(replica, action, (shard) => ({ ...shard, stopRequestedAtMs: at.nowMs }));
    case "release_shard":
      return withShard(replica, action, (shard) => ({ ...shard, releasedAtMs: at.nowMs }));
  }
}

/** The move after `set_move`; `move` is undefined where it has no row yet. */
export function applyToMove(move: Move | undefined, action: On<"set_move">, at: Instant): Move {
  return {
    drainId: action.drainId,
    replicaId: action.replicaId,
    replacementId: action.replacementId,
    step: action.step,
    stepAtMs: move?.step === action.step ? move.stepAtMs : { ...move?.stepAtMs, [action.step]: at.nowMs },
    reason: action.reason,
    lost: action.lost,
  };
}

export function applyToDrain(drain: Drain, action: On<"end_drain">, at: Instant): Drain {
  return { ...drain, endedAtMs: at.nowMs, result: action.result, losses: action.losses };
}

/** A node's cordons after the control plane set or lifted one of its own. `id` is that of a new one. */
export function applyToCordons(
  cordons: readonly Cordon[],
  action: On<"set_cordon"> | On<"lift_cordon">,
  at: Instant & { readonly id: string },
): readonly Cordon[] {
  const { nodeId, owner } = action;
  const others = cordons.filter((cordon) => cordon.owner !== owner);
  if (action.kind === "lift_cordon") return others;
  const why = describeReason(action.reason);
  const added = {
    id: at.id,
    nodeId,
    gpuUuid: null,
    owner,
    by: "system",
    reason: why,
    sinceMs: at.nowMs,
    drainId: null,
  };
  return [...others, added];
}

/** A model's rollout after it completed or failed. */
export function applyToRollout(rollout: Rollout, action: On<"set_rollout">, at: Instant): Rollout | null {
  return action.failure === null ? null : { ...rollout, failedAtMs: at.nowMs, reason: action.failure };
}

function placed(replica: Replica, action: On<"place_replica">, at: Instant & { readonly shareGpu: boolean }): Replica {
  const generation = action.fromGeneration + 1;
  const shards = action.shards.map(
    (shard): Shard => ({
      replicaId: replica.id,
      generation,
      rank: shard.rank,
      nodeId: shard.nodeId,
      gpuUuids: shard.gpuUuids,
      memoryMibPerGpu: shard.memoryMibPerGpu,
      shareGpu: at.shareGpu,
      stopRequestedAtMs: null,
      releasedAtMs: null,
    }),
  );
  return {
    ...replica,
    modelRevision: action.modelRevision,
    generation,
    phase: "starting",
    phaseSinceMs: at.nowMs,
    reason: null,
    drainId: action.drainId,
    stateVersion: at.version,
    url: null,
    offeredAtMs: null,
    provenSinceMs: null,
    routersQuietSinceMs: null,
    notBeforeMs: null,
    shards: [...replica.shards.filter((shard) => shard.releasedAtMs === null), ...shards],
  };
}

function phased(replica: Replica, action: On<"set_phase">, at: Instant): Replica {
  const { to } = action;
  const stays = inTable.has(to);
  const offeredAtMs = stays ? (replica.offeredAtMs ?? at.nowMs) : null;
  return {
    ...replica,
    phase: to,
    phaseSinceMs: at.nowMs,
    reason: action.reason,
    drainId: action.drainId,
    notBeforeMs: action.notBeforeMs === undefined ? replica.notBeforeMs : action.notBeforeMs,
    failures: action.failures ?? replica.failures,
    offeredAtMs: to === "starting" ? replica.offeredAtMs : offeredAtMs,
    url: stays || to === "starting" ? replica.url : null,
    provenSinceMs: to === "serving" || to === "moving" ? replica.provenSinceMs : null,
    routersQuietSinceMs: null,
    stateVersion: action.routing ? at.version : replica.stateVersion,
  };
}

function withShard(
  replica: Replica,
  key: { readonly generation: number; readonly rank: number },
  change: (shard: Shard) => Shard,
): Replica {
  return {
    ...replica,
    shards: replica.shards.map((shard) =>
      shard.generation === key.generation && shard.rank === key.rank ? change(shard) : shard,
    ),
  };
}
