import { type Drain, drainCovers, type Move } from "../../cluster/drain.ts";
import { type Model, startedModel, withLoadTime } from "../../cluster/model.ts";
import type { Node } from "../../cluster/node.ts";
import type { Replica } from "../../cluster/replica.ts";
import type { Router } from "../../cluster/router.ts";
import type { ClusterSnapshot, ControlSettings } from "../../cluster/snapshot.ts";
import { recheckPlacement } from "../../placement/recheck.ts";
import { type Action, takesVersion } from "../../reconcile/action.ts";
import {
  applyToCordons,
  applyToDrain,
  applyToMove,
  applyToReplica,
  applyToRollout,
  createdReplica,
  type Instant,
} from "../../reconcile/apply.ts";
import { cordonRefusal, modelRefusal, replicaRefusal, rolloutRefusal } from "../../reconcile/refuse.ts";

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
    switch (action.kind) {
      case "create_replica":
        this.replicas.set(action.replicaId, createdReplica(action, at));
        return;
      case "set_move": {
        const key = `${action.drainId} ${action.replicaId}`;
        this.moves.set(key, applyToMove(this.moves.get(key), action, at));
        return;
      }
      case "end_drain": {
        const drain = this.drains.get(action.drainId);
        if (drain !== undefined) this.drains.set(drain.id, applyToDrain(drain, action, at));
        return;
      }
      case "set_cordon":
      case "lift_cordon": {
        const node = this.nodes.get(action.nodeId);
        const id = `cordon_${action.owner}_${action.nodeId}_${this.version}`;
        if (node !== undefined) {
          this.nodes.set(node.id, { ...node, cordons: applyToCordons(node.cordons, action, { ...at, id }) });
        }
        return;
      }
      case "set_rollout": {
        const model = this.models.get(action.modelId);
        if (model === undefined || model.rollout === null) return;
        this.models.set(model.id, { ...model, rollout: applyToRollout(model.rollout, action, at) });
        return;
      }
      default:
        this.#writeReplica(action, at);
    }
  }

  #writeReplica(action: Parameters<typeof applyToReplica>[1], at: Instant): void {
    const replica = this.replicas.get(action.replicaId);
    if (replica === undefined) throw new Error(`no replica ${action.replicaId}`);
    const model = this.models.get(replica.modelId);
    const shareGpu = model?.spec.resources.shareGpu ?? false;
    this.replicas.set(replica.id, applyToReplica(replica, action, { ...at, shareGpu }));
    if (model !== undefined && action.kind === "set_phase" && action.from === "starting" && action.to === "serving") {
      const loadTimesMs = withLoadTime(model.loadTimesMs, at.nowMs - replica.phaseSinceMs);
      this.models.set(model.id, { ...model, loadTimesMs });
    }
  }

  #check(action: Action): string | null {
    switch (action.kind) {
      case "create_replica":
        if (this.replicas.has(action.replicaId)) return `${action.replicaId} was used before`;
        return modelRefusal(this.models.get(action.modelId), action.modelId, null);
      case "set_move":
      case "end_drain": {
        const drain = this.drains.get(action.drainId);
        if (drain === undefined || drain.endedAtMs !== null) return "the drain is not open";
        if (action.kind === "set_move" || action.result === "unconfirmed" || action.result === "failed") return null;
        return this.#holdsShard(drain) ? "the drain still covers unreleased shards" : null;
      }
      case "set_cordon":
      case "lift_cordon":
        return cordonRefusal(this.nodes.get(action.nodeId)?.cordons, action);
      case "set_rollout":
        return rolloutRefusal(this.models.get(action.modelId), action);
      default: {
        const replica = this.replicas.get(action.replicaId);
        const refusal = replicaRefusal(replica, action);
        if (refusal !== null || replica === undefined || action.kind !== "place_replica") return refusal;
        const model = this.models.get(replica.modelId);
        return modelRefusal(model, replica.modelId, action.modelRevision) ?? this.#recheck(replica, action);
      }
    }
  }

  #recheck(replica: Replica, action: Extract<Action, { kind: "place_replica" }>): string | null {
    const planned = { modelId: replica.modelId, replicaId: replica.id, shards: action.shards };
    const snapshot = this.snapshot();
    const models = snapshot.models.map(startedModel);
    const recheck = recheckPlacement(planned, { ...snapshot, models }, this.settings);
    return recheck.ok ? null : recheck.reason.code;
  }

  #holdsShard(drain: Drain): boolean {
    return [...this.replicas.values()].some((replica) =>
      replica.shards.some((shard) => shard.releasedAtMs === null && drainCovers(drain, shard)),
    );
  }

  /** Open drains, and of each node and GPU the latest ended one. */
  #drainsInSight(): readonly Drain[] {
    const latest = new Map<string, Drain>();
    const open: Drain[] = [];
    for (const drain of this.drains.values()) {
      if (drain.endedAtMs === null) open.push(drain);
      else if (drain.replica === null) {
        const key = `${drain.nodeId} ${drain.gpuUuid ?? ""}`;
        if ((latest.get(key)?.endedAtMs ?? -1) <= drain.endedAtMs) latest.set(key, drain);
      }
    }
    return [...open, ...latest.values()];
  }
}
