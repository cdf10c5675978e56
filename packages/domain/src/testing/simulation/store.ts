import type { Drain, Move } from "../../cluster/drain.ts";
import type { Model } from "../../cluster/model.ts";
import type { Node } from "../../cluster/node.ts";
import type { Replica } from "../../cluster/replica.ts";
import type { Router } from "../../cluster/router.ts";
import type { ClusterSnapshot, ControlSettings } from "../../cluster/snapshot.ts";
import { recheckPlacement } from "../../placement/recheck.ts";
import { type Action, takesVersion } from "../../reconcile/action.ts";
import { applyToDrain, applyToMove, applyToReplica, createdReplica } from "../../reconcile/apply.ts";

/** The database of a simulated control plane: rows in memory, and commits that check and write as `Action` says. */
export class Store {
  readonly nodes = new Map<string, Node>();
  readonly models = new Map<string, Model>();
  readonly replicas = new Map<string, Replica>();
  readonly drains = new Map<string, Drain>();
  readonly moves = new Map<string, Move>();
  readonly routers = new Map<string, Router>();
  readonly settings: ControlSettings;
  version = 1;
  nowMs: number;
  controlSinceMs: number;

  constructor(settings: ControlSettings, nowMs: number) {
    this.settings = settings;
    this.nowMs = nowMs;
    this.controlSinceMs = nowMs;
  }

  snapshot(): ClusterSnapshot {
    const drains = this.#drainsInSight();
    const ids = new Set(drains.map((drain) => drain.id));
    const moves = [...this.moves.values()].filter((move) => ids.has(move.drainId));
    const named = new Set(moves.flatMap((move) => [move.replicaId, move.replacementId]));
    return {
      version: this.version,
      nowMs: this.nowMs,
      controlSinceMs: this.controlSinceMs,
      nodes: [...this.nodes.values()],
      models: [...this.models.values()],
      replicas: [...this.replicas.values()].filter((replica) => replica.phase !== "stopped" || named.has(replica.id)),
      drains,
      moves,
      routers: [...this.routers.values()],
    };
  }

  /** A change of desired state by an operator: it takes a version. */
  bump(): void {
    this.version += 1;
  }

  /** Commits one action; returns why not where one of its checks fails. */
  commit(action: Action): string | null {
    const refusal = this.#check(action);
    if (refusal !== null) return refusal;
    if (takesVersion(action)) this.version += 1;
    this.#write(action);
    return null;
  }

  #write(action: Action): void {
    const at = { nowMs: this.nowMs, version: this.version };
    if (action.kind === "create_replica") {
      this.replicas.set(action.replicaId, createdReplica(action, at));
    } else if (action.kind === "set_move") {
      const key = `${action.drainId} ${action.replicaId}`;
      this.moves.set(key, applyToMove(this.moves.get(key), action, at));
    } else if (action.kind === "end_drain") {
      const drain = this.drains.get(action.drainId);
      if (drain !== undefined) this.drains.set(drain.id, applyToDrain(drain, action, at));
    } else {
      const replica = this.replicas.get(action.replicaId);
      if (replica === undefined) throw new Error(`no replica ${action.replicaId}`);
      const shareGpu = this.models.get(replica.modelId)?.spec.resources.shareGpu ?? false;
      this.replicas.set(replica.id, applyToReplica(replica, action, { ...at, shareGpu }));
    }
  }

  #check(action: Action): string | null {
    if (action.kind === "create_replica") {
      if (this.replicas.has(action.replicaId)) return `${action.replicaId} was used before`;
      const model = this.models.get(action.modelId);
      return model === undefined || model.deletedAtMs !== null ? "the model is gone" : null;
    }
    if (action.kind === "set_move" || action.kind === "end_drain") {
      const drain = this.drains.get(action.drainId);
      if (drain === undefined || drain.endedAtMs !== null) return "the drain is not open";
      if (action.kind === "set_move" || action.result === "unconfirmed") return null;
      return this.#holdsShard(drain.nodeId) ? "the node still has unreleased shards" : null;
    }
    const replica = this.replicas.get(action.replicaId);
    if (replica === undefined) return "no such replica";
    switch (action.kind) {
      case "place_replica": {
        if (replica.phase !== action.fromPhase || replica.generation !== action.fromGeneration) return "it moved on";
        if (this.models.get(replica.modelId)?.revision !== action.modelRevision) return "the model changed";
        const planned = { modelId: replica.modelId, replicaId: replica.id, shards: action.shards };
        const recheck = recheckPlacement(planned, this.snapshot(), this.settings);
        return recheck.ok ? null : recheck.reason.code;
      }
      case "explain_pending":
        return replica.phase === "pending" ? null : "it is not pending";
      case "set_phase":
        if (replica.phase !== action.from || replica.generation !== action.generation) return "it moved on";
        return action.to === "stopped" && replica.shards.some((shard) => shard.releasedAtMs === null)
          ? "a shard is unreleased"
          : null;
      case "offer_endpoint":
        return replica.phase === "starting" && replica.generation === action.generation && replica.offeredAtMs === null
          ? null
          : "it moved on";
      case "set_proof":
        return replica.generation === action.generation ? null : "it moved on";
      case "record_failure":
      case "stop_shard":
      case "release_shard": {
        const shard = replica.shards.find(
          (found) => found.generation === action.generation && found.rank === action.rank,
        );
        if (shard === undefined || shard.releasedAtMs !== null) return "the shard is released";
        return action.kind === "stop_shard" && shard.stopRequestedAtMs !== null ? "it was asked already" : null;
      }
    }
  }

  #holdsShard(nodeId: string): boolean {
    return [...this.replicas.values()].some((replica) =>
      replica.shards.some((shard) => shard.nodeId === nodeId && shard.releasedAtMs === null),
    );
  }

  /** Open drains, and each node's latest ended one. */
  #drainsInSight(): readonly Drain[] {
    const latest = new Map<string, Drain>();
    const open: Drain[] = [];
    for (const drain of this.drains.values()) {
      if (drain.endedAtMs === null) open.push(drain);
      else if ((latest.get(drain.nodeId)?.endedAtMs ?? -1) <= drain.endedAtMs) latest.set(drain.nodeId, drain);
    }
    return [...open, ...latest.values()];
  }
}
