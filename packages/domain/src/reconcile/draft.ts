import type { Drain, Move } from "../cluster/drain.ts";
import type { Model } from "../cluster/model.ts";
import type { Replica, ReplicaPhase } from "../cluster/replica.ts";
import type { Shard } from "../cluster/shard.ts";
import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";
import type { Reason } from "../reasons/reason.ts";
import type { Action } from "./action.ts";
import { applyToDrain, applyToMove, applyToReplica, createdReplica } from "./apply.ts";
import { type Facts, readFacts } from "./facts.ts";

/**
 * The cluster as it will be once the actions decided so far are committed. The steps of a pass share one draft, so each
 * sees what the ones before it decided. It lives for one pass only.
 */
export interface Draft {
  readonly facts: Facts;
  readonly settings: ControlSettings;
  readonly nowMs: number;
  readonly actions: readonly Action[];
  replica(id: string): Replica | null;
  /** Replicas of a model that are not stopped, in the snapshot's order, new ones last. */
  replicasOf(modelId: string): readonly Replica[];
  /** All replicas that are not stopped. */
  replicas(): readonly Replica[];
  move(drainId: string, replicaId: string): Move | null;
  movesOf(drainId: string): readonly Move[];
  drains(): readonly Drain[];
  /** The snapshot with the actions so far in it, for `place()`. */
  snapshot(): ClusterSnapshot;
  /** Decides an action: it is appended to the plan and takes effect in the draft. */
  decide(action: Action): void;
}

export function openDraft(base: ClusterSnapshot, settings: ControlSettings): Draft {
  const facts = readFacts(base, settings);
  const replicas = new Map(base.replicas.map((replica) => [replica.id, replica]));
  const idsByModel = new Map<string, string[]>();
  for (const replica of base.replicas) listed(idsByModel, replica.modelId).push(replica.id);
  const moves = new Map(base.moves.map((move) => [moveKey(move.drainId, move.replicaId), move]));
  const drains = new Map(base.drains.map((drain) => [drain.id, drain]));
  const actions: Action[] = [];
  let cached: ClusterSnapshot | null = base;
  // What this pass decides gets a version that no report can have seen yet.
  const at = { nowMs: base.nowMs, version: base.version + 1 };

  // Steps ask for these lists far more often than they change something.
  let all: readonly Replica[] | null = null;
  const byModel = new Map<string, readonly Replica[]>();
  const replicasOf = (modelId: string): readonly Replica[] => {
    let found = byModel.get(modelId);
    if (found === undefined) {
      found = (idsByModel.get(modelId) ?? []).flatMap((id) => liveReplica(replicas.get(id)));
      byModel.set(modelId, found);
    }
    return found;
  };
  const setReplica = (replica: Replica): void => {
    replicas.set(replica.id, replica);
    byModel.delete(replica.modelId);
    all = null;
  };

  const apply = (action: Action): void => {
    if (action.kind === "set_move") {
      const key = moveKey(action.drainId, action.replicaId);
      moves.set(key, applyToMove(moves.get(key), action, at));
    } else if (action.kind === "end_drain") {
      const drain = drains.get(action.drainId);
      if (drain !== undefined) drains.set(drain.id, applyToDrain(drain, action, at));
    } else if (action.kind === "set_cordon" || action.kind === "lift_cordon" || action.kind === "set_rollout") {
      // What follows from these is decided from the next snapshot.
    } else if (action.kind === "create_replica") {
      listed(idsByModel, action.modelId).push(action.replicaId);
      setReplica(createdReplica(action, at));
    } else {
      const replica = replicas.get(action.replicaId);
      if (replica === undefined) throw new Error(`the plan acts on ${action.replicaId}, which is not in the snapshot`);
      const shareGpu = facts.models.get(replica.modelId)?.spec.resources.shareGpu ?? false;
      setReplica(applyToReplica(replica, action, { ...at, shareGpu }));
    }
  };

  return {
    facts,
    settings,
    nowMs: base.nowMs,
    actions,
    replica: (id) => replicas.get(id) ?? null,
    replicasOf,
    replicas: () => {
      all ??= [...replicas.values()].flatMap(liveReplica);
      return all;
    },
    move: (drainId, replicaId) => moves.get(moveKey(drainId, replicaId)) ?? null,
    movesOf: (drainId) => [...moves.values()].filter((move) => move.drainId === drainId),
    drains: () => [...drains.values()],
    snapshot: () => {
      cached ??= { ...base, replicas: [...replicas.values()] };
      return cached;
    },
    decide: (action) => {
      actions.push(action);
      apply(action);
      if (changesPlacement(action)) cached = null;
    },
  };
}

export interface PhaseChange {
  readonly to: ReplicaPhase;
  readonly reason: Reason | null;
  /** Its place in the endpoint table changes. */
  readonly routing: boolean;
  readonly drainId?: string | null;
  readonly notBeforeMs?: number | null;
  readonly failures?: Replica["failures"];
}

/** Decides a change of phase and returns the replica as it then is. */
export function setPhase(draft: Draft, replica: Replica, change: PhaseChange): Replica {
  const { to, reason, routing, drainId = replica.drainId, notBeforeMs, failures } = change;
  draft.decide({
    kind: "set_phase",
    replicaId: replica.id,
    generation: replica.generation,
    from: replica.phase,
    to,
    reason,
    routing,
    drainId,
    ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
    ...(failures === undefined ? {} : { failures }),
  });
  return draft.replica(replica.id) ?? replica;
}

/** Orders the stop of every shard of a replica, of any generation, that runs and was not told yet. */
export function stopShards(draft: Draft, replica: Replica): void {
  for (const shard of replica.shards) {
    if (shard.releasedAtMs !== null || shard.stopRequestedAtMs !== null) continue;
    const { replicaId, generation, rank } = shard;
    draft.decide({ kind: "stop_shard", replicaId, generation, rank, drainId: replica.drainId });
  }
}

/** The shards of its present generation, by rank. */
export function presentShards(replica: Replica): readonly Shard[] {
  return replica.shards.filter((shard) => shard.generation === replica.generation);
}

/** The shard that owns the HTTP endpoint of the present generation. */
export function headShard(replica: Replica): Shard | null {
  return replica.shards.find((shard) => shard.generation === replica.generation && shard.rank === 0) ?? null;
}

export function isReleased(replica: Replica): boolean {
  return replica.shards.every((shard) => shard.releasedAtMs !== null);
}

/** How many replicas of the model there should be. */
export function desiredCount(model: Model | undefined): number {
  return model === undefined || model.deletedAtMs !== null ? 0 : model.spec.replicas;
}

function liveReplica(replica: Replica | undefined): readonly Replica[] {
  return replica === undefined || replica.phase === "stopped" ? [] : [replica];
}

function changesPlacement(action: Action): boolean {
  return "replicaId" in action && action.kind !== "set_move" && action.kind !== "record_failure";
}

function moveKey(drainId: string, replicaId: string): string {
  return `${drainId} ${replicaId}`;
}

function listed(map: Map<string, string[]>, key: string): string[] {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made: string[] = [];
  map.set(key, made);
  return made;
}
