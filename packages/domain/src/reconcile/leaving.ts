import { type Drain, drainCovers, drainScope } from "../cluster/drain.ts";
import type { Gpu } from "../cluster/gpu.ts";
import type { Model } from "../cluster/model.ts";
import type { Replica, ReplicaPhase } from "../cluster/replica.ts";
import type { Shard } from "../cluster/shard.ts";
import { describeReason } from "../reasons/catalogue.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { type Draft, desiredCount, presentShards } from "./draft.ts";
import type { Facts, NodeFacts } from "./facts.ts";

/**
 * Why a replica cannot stay as it is: a drain (the one with the earliest deadline), the health of one of its GPUs, a
 * lost node, or a newer revision of its model.
 */
export type Leaving =
  | { readonly kind: "drain"; readonly node: NodeFacts; readonly drain: Drain }
  | { readonly kind: "gpu"; readonly node: NodeFacts; readonly gpu: Gpu }
  | { readonly kind: "lost"; readonly node: NodeFacts }
  | { readonly kind: "rollout"; readonly model: Model };

export function leavingOf(facts: Facts, replica: Replica): Leaving | null {
  let found: Leaving | null = null;
  for (const shard of presentShards(replica)) {
    if (shard.releasedAtMs !== null) continue;
    const node = facts.nodes.get(shard.nodeId);
    if (node === undefined) continue;
    for (const drain of drainsOf(facts, { replica, shard, node })) {
      if (found?.kind !== "drain" || byDeadline(drain, found.drain) < 0) found = { kind: "drain", node, drain };
    }
    if (found?.kind === "drain") continue;
    const gpu = node.evicting.find(({ uuid }) => shard.gpuUuids.includes(uuid));
    if (gpu !== undefined) found = { kind: "gpu", node, gpu };
    else if (node.liveness === "lost") found ??= { kind: "lost", node };
  }
  return found ?? rolloutOf(facts, replica);
}

/** The drain that it leaves for, if it is one. */
export function drainOf(leaving: Leaving | null): Drain | null {
  return leaving?.kind === "drain" ? leaving.drain : null;
}

interface Seat {
  readonly replica: Replica;
  readonly shard: Shard;
  readonly node: NodeFacts;
}

function drainsOf(facts: Facts, { replica, shard, node }: Seat): readonly Drain[] {
  const own = facts.replicaDrains.get(replica.id);
  const drains = own !== undefined && drainCovers(own, shard) ? [own] : [];
  if (node.drain !== null) drains.push(node.drain);
  if (facts.gpuDrains.size > 0) {
    for (const uuid of shard.gpuUuids) {
      const drain = facts.gpuDrains.get(uuid);
      if (drain !== undefined) drains.push(drain);
    }
  }
  return drains;
}

/** A newer revision of its model is being rolled out. What waits for a place takes the new one by itself. */
function rolloutOf(facts: Facts, replica: Replica): Leaving | null {
  const model = facts.models.get(replica.modelId);
  if (model === undefined || model.rollout === null || model.rollout.failedAtMs !== null) return null;
  return replica.generation > 0 && replica.modelRevision !== model.revision ? { kind: "rollout", model } : null;
}

function byDeadline(a: Drain, b: Drain): number {
  return a.deadlineAtMs - b.deadlineAtMs || (a.id < b.id ? -1 : 1);
}

/** Has the time of a drain run out: its deadline, an operator's force, or it has ended with the node given up. */
export function isTimeUp(drain: Drain, nowMs: number): boolean {
  return drain.endedAtMs !== null || drain.deadlineAtMs <= nowMs || isForced(drain, nowMs);
}

export function isForced(drain: Drain, nowMs: number): boolean {
  return drain.forcedAtMs !== null && drain.forcedAtMs <= nowMs;
}

export function leavingReason(leaving: Leaving, replica: Replica): Reason {
  switch (leaving.kind) {
    case "drain":
      return drainReason(leaving.drain, leaving.node);
    case "gpu": {
      const { node, gpu } = leaving;
      const why = gpu.health.reason === null ? "unhealthy" : describeReason(gpu.health.reason);
      return reason("moving_for_gpu", { node: node.node.name, gpu: `GPU ${gpu.index}`, why });
    }
    case "lost":
      return reason("moving_for_node_lost", { node: leaving.node.node.name, silentMs: leaving.node.silentMs });
    case "rollout": {
      const { id, revision } = leaving.model;
      return reason("moving_for_rollout", { model: id, from: replica.modelRevision, to: revision });
    }
  }
}

function drainReason(drain: Drain, { node }: NodeFacts): Reason {
  switch (drainScope(drain)) {
    case "replica":
      return reason("moving_for_replica_drain", { by: drain.by });
    case "gpu": {
      const index = node.gpus.find(({ uuid }) => uuid === drain.gpuUuid)?.index;
      const gpu = index === undefined ? (drain.gpuUuid ?? "") : `GPU ${index}`;
      return reason("moving_for_gpu_drain", { node: node.name, gpu, by: drain.by });
    }
    case "node":
      return reason("moving_for_drain", { node: node.name, by: drain.by });
  }
}

/** Phases in which a replica counts toward its model's desired number. */
const counted: ReadonlySet<ReplicaPhase> = new Set(["pending", "starting", "serving", "failed"]);

export function isMember(replica: Replica): boolean {
  return counted.has(replica.phase);
}

/** Replicas that take or may take requests: the number that no planned step may lower. */
export function countServing(replicas: readonly Replica[]): number {
  return replicas.filter((replica) => replica.phase === "serving" || replica.phase === "moving").length;
}

/** The replica that is to take the original's place, if one was made and still counts. */
export function replacementOf(draft: Draft, original: Replica): Replica | null {
  return (
    draft.replicasOf(original.modelId).find((replica) => replica.replaces === original.id && isMember(replica)) ?? null
  );
}

/** Moving originals of a model by what they still need, earliest deadline first. */
export interface Movers {
  readonly replaced: readonly { readonly original: Replica; readonly replacement: Replica }[];
  /** They need a replacement and have none. */
  readonly waiting: readonly Replica[];
  /** The model has its number without them: they only have to go. */
  readonly surplus: readonly Replica[];
  /** Replicas that the model lacks beside the waiting ones. */
  readonly missing: number;
}

export function moversOf(draft: Draft, modelId: string): Movers {
  const replicas = draft.replicasOf(modelId);
  const moving = replicas.filter((replica) => replica.phase === "moving");
  const lacks = Math.max(0, desiredCount(draft.facts.models.get(modelId)) - replicas.filter(isMember).length);
  if (moving.length === 0) return { replaced: [], waiting: [], surplus: [], missing: lacks };
  moving.sort((a, b) => deadlineOf(draft, a) - deadlineOf(draft, b) || (a.id < b.id ? -1 : 1));
  const replaced = [];
  const alone = [];
  for (const original of moving) {
    const replacement = replacementOf(draft, original);
    if (replacement === null) alone.push(original);
    else replaced.push({ original, replacement });
  }
  const waiting = alone.slice(0, lacks);
  return { replaced, waiting, surplus: alone.slice(waiting.length), missing: lacks - waiting.length };
}

/**
 * When its move ends at the latest, ms. A move without an end of its own is as urgent as its cause is old where the cause
 * may take it any moment (a lost node, a sick GPU), and comes after all others where it does not (a rollout).
 */
export function deadlineOf(draft: Draft, replica: Replica): number {
  const leaving = leavingOf(draft.facts, replica);
  switch (leaving?.kind) {
    case "drain":
      return leaving.drain.deadlineAtMs;
    case "gpu":
      return leaving.gpu.health.sinceMs;
    case "lost":
      return draft.nowMs - leaving.node.silentMs;
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/** Moves that hold a slot of the model: their replacement is placed and their original has not turned draining. */
export function slotsInUse(draft: Draft, modelId: string): number {
  return moversOf(draft, modelId).replaced.filter(
    ({ original, replacement }) =>
      needsSlot(original) && (replacement.phase === "starting" || replacement.phase === "serving"),
  ).length;
}

/** Moves off a lost node need no slot: what runs there may be gone any moment. */
export function needsSlot(original: Replica): boolean {
  return original.reason?.code !== "moving_for_node_lost";
}

/** Starting + serving + moving: what may exceed the desired number by the surge in force only. */
export function countActive(replicas: readonly Replica[]): number {
  return countServing(replicas) + replicas.filter((replica) => replica.phase === "starting").length;
}
