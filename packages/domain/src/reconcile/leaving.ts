import type { Drain } from "../cluster/drain.ts";
import type { Model } from "../cluster/model.ts";
import type { Replica, ReplicaPhase } from "../cluster/replica.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { type Draft, desiredCount } from "./draft.ts";
import type { Facts, NodeFacts } from "./facts.ts";
import { presentNodes } from "./proof.ts";

/** Why a replica cannot stay where it is: a drain of one of its nodes (the earliest deadline), or a lost node. */
export interface Leaving {
  readonly node: NodeFacts;
  readonly drain: Drain | null;
}

export function leavingOf(facts: Facts, replica: Replica): Leaving | null {
  let found: Leaving | null = null;
  for (const nodeId of presentNodes(replica)) {
    const node = facts.nodes.get(nodeId);
    if (node === undefined) continue;
    if (node.drain !== null) {
      if (found?.drain == null || byDeadline(node.drain, found.drain) < 0) found = { node, drain: node.drain };
    } else if (node.liveness === "lost") {
      found ??= { node, drain: null };
    }
  }
  return found;
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

export function leavingReason({ node, drain }: Leaving): Reason {
  return drain === null
    ? reason("moving_for_node_lost", { node: node.node.name, silentMs: node.silentMs })
    : reason("moving_for_drain", { node: node.node.name, by: drain.by });
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

/** When its move ends at the latest, ms; a lost node's move has no end of its own and is as urgent as its loss is old. */
export function deadlineOf(draft: Draft, replica: Replica): number {
  const leaving = leavingOf(draft.facts, replica);
  if (leaving === null) return Number.POSITIVE_INFINITY;
  return leaving.drain?.deadlineAtMs ?? draft.nowMs - leaving.node.silentMs;
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

/** How many more replicas than desired a model may have starting, serving or moving at this moment. */
export function surgeInForce(model: Model, replicas: readonly Replica[]): number {
  const unslotted = replicas.filter((replica) => replica.phase === "moving" && !needsSlot(replica));
  return model.spec.update.maxSurge + unslotted.length;
}

/** Starting + serving + moving: what may exceed the desired number by the surge in force only. */
export function countActive(replicas: readonly Replica[]): number {
  return countServing(replicas) + replicas.filter((replica) => replica.phase === "starting").length;
}

/** May one more replica of the model start without exceeding what it may have at once. */
export function hasRoomToStart(draft: Draft, model: Model): boolean {
  const replicas = draft.replicasOf(model.id);
  return countActive(replicas) < desiredCount(model) + surgeInForce(model, replicas);
}
