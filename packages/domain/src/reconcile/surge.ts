import { expectedLoadMs, type Model } from "../cluster/model.ts";
import { type Draft, desiredCount } from "./draft.ts";
import { countActive, drainOf, leavingOf, needsSlot } from "./leaving.ts";

/** How many moves of a model may be under way at once, and why. */
export interface Surge {
  readonly allowed: number;
  /** What the model's spec says. */
  readonly maxSurge: number;
}

/** How long one move takes, from a place for its replacement to the hand-over, ms. */
export function expectedMoveMs(model: Model, { provenMs }: { readonly provenMs: number }): number {
  return expectedLoadMs(model) + provenMs;
}

/**
 * How many moves have to run side by side so that each ends before its deadline, if each takes `moveMs`: in the time
 * left, `floor(left / moveMs)` can follow each other. A deadline that even one alone cannot meet asks for all at once.
 */
export function surgeNeeded(leftMs: readonly number[], moveMs: number): number {
  const sorted = [...leftMs].sort((a, b) => a - b);
  let needed = 0;
  for (const [index, left] of sorted.entries()) {
    const k = index + 1;
    needed = Math.max(needed, left <= moveMs ? k : Math.ceil(k / Math.floor(left / moveMs)));
  }
  return Math.min(needed, sorted.length);
}

/** The surge in force: what the spec says, raised as far as the deadlines of its moves need. */
export function surgeOf(draft: Draft, model: Model): Surge {
  const { maxSurge } = model.spec.update;
  const moving = draft.replicasOf(model.id).filter((replica) => replica.phase === "moving" && needsSlot(replica));
  if (moving.length <= maxSurge) return { allowed: maxSurge, maxSurge };
  // A rollout and a sick GPU have no deadline: they take the slots that the spec gives.
  const leftMs = moving.flatMap((replica) => {
    const drain = drainOf(leavingOf(draft.facts, replica));
    return drain === null ? [] : [drain.deadlineAtMs - draft.nowMs];
  });
  return { allowed: Math.max(maxSurge, surgeNeeded(leftMs, expectedMoveMs(model, draft.settings))), maxSurge };
}

/** How many more replicas than desired a model may have starting, serving or moving at this moment. */
export function surgeInForce(draft: Draft, model: Model): number {
  const unslotted = draft.replicasOf(model.id).filter((replica) => replica.phase === "moving" && !needsSlot(replica));
  return surgeOf(draft, model).allowed + unslotted.length;
}

/** May one more replica of the model start without exceeding what it may have at once. */
export function hasRoomToStart(draft: Draft, model: Model): boolean {
  const replicas = draft.replicasOf(model.id);
  return countActive(replicas) < desiredCount(model) + surgeInForce(draft, model);
}
