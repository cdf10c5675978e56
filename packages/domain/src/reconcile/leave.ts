import type { Replica } from "../cluster/replica.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { type Draft, desiredCount, headShard, setPhase, stopShards } from "./draft.ts";
import {
  countServing,
  drainOf,
  isForced,
  isTimeUp,
  type Leaving,
  leavingOf,
  leavingReason,
  moversOf,
  replacementOf,
} from "./leaving.ts";
import { routersReach } from "./proof.ts";

/**
 * Marks what has to leave and unmarks what may stay again. What serves becomes *moving* and goes on serving; what serves
 * nothing is stopped at once and waits for another place.
 */
export function markLeaving(draft: Draft): void {
  for (const replica of draft.replicas()) {
    if (replica.phase !== "starting" && replica.phase !== "serving" && replica.phase !== "moving") continue;
    const leaving = leavingOf(draft.facts, replica);
    // A lost node's replicas are judged by what routers reach (`followLostNodes`).
    if (leaving !== null && leaving.kind !== "lost") leave(draft, replica, leaving);
    else if (leaving === null && replica.phase === "moving" && replica.provenSinceMs !== null) {
      setPhase(draft, replica, { to: "serving", reason: null, routing: true, drainId: null });
    }
  }
}

function leave(draft: Draft, replica: Replica, leaving: Leaving): void {
  const change = { reason: leavingReason(leaving, replica), drainId: drainOf(leaving)?.id ?? null };
  if (replica.phase === "serving") setPhase(draft, replica, { ...change, to: "moving", routing: true });
  else if (replica.phase === "moving") {
    // It leaves for another cause by now: a drain on top of a rollout, for one. On a lost node that stays the reason.
    const reason = isOnLostNode(leaving) ? replica.reason : change.reason;
    if (replica.drainId !== change.drainId || replica.reason?.code !== reason?.code) {
      setPhase(draft, replica, { ...change, reason, to: "moving", routing: false });
    }
  } else if (replica.offeredAtMs === null) {
    const pending = setPhase(draft, replica, { ...change, to: "pending", routing: false, notBeforeMs: null });
    stopShards(draft, pending);
  } else {
    // Routers know it and may have sent to it: what is in flight finishes.
    setPhase(draft, replica, { ...change, to: "draining", routing: true });
  }
}

/**
 * A draining replica serves again while its stop is not sent, its time is not up and nothing else of its model serves:
 * its replacement failed after all.
 */
export function takeBackDraining(draft: Draft): void {
  for (const replica of draft.replicas()) {
    if (replica.phase !== "draining" || !mayServe(draft, replica)) continue;
    if (desiredCount(draft.facts.models.get(replica.modelId)) === 0) continue;
    if (countServing(draft.replicasOf(replica.modelId)) > 0) continue;
    const leaving = leavingOf(draft.facts, replica);
    const drain = drainOf(leaving);
    if (drain !== null && isTimeUp(drain, draft.nowMs)) continue;
    if (isOnLostNode(leaving) && !routersReach(draft.facts, replica)) continue;
    if (replica.reason?.code === "stopped_for_room") continue;
    setPhase(draft, replica, {
      to: "moving",
      reason: leaving === null ? replica.reason : leavingReason(leaving, replica),
      routing: true,
      drainId: drain?.id ?? null,
    });
  }
}

/** Moves whose time is up, or that were forced: the original stops taking requests, replacement or not. */
export function endOverdueMoves(draft: Draft): void {
  for (const original of draft.replicas()) {
    if (original.phase !== "moving") continue;
    const drain = drainOf(leavingOf(draft.facts, original));
    if (drain === null || !isTimeUp(drain, draft.nowMs)) continue;
    const why =
      isForced(drain, draft.nowMs) && drain.forcedBy !== null
        ? reason("stopped_by_force", { by: drain.forcedBy })
        : reason("stopped_at_deadline", { deadlineMs: drain.deadlineAtMs });
    const replacement = replacementOf(draft, original);
    const { modelId } = original;
    const others = countServing(draft.replicasOf(modelId)) - 1;
    const replaced =
      (replacement?.phase === "serving" && replacement.provenSinceMs !== null) ||
      others >= desiredCount(draft.facts.models.get(modelId));
    setPhase(draft, original, { to: "draining", reason: why, routing: true, drainId: drain.id });
    if (drain.endedAtMs === null) {
      draft.decide({
        kind: "set_move",
        drainId: drain.id,
        replicaId: original.id,
        step: "draining",
        replacementId: replacement?.id ?? null,
        reason: why,
        lost: !replaced,
      });
    }
  }
}

/**
 * Originals whose replacement has proven itself turn draining, and so do those that the model does not need. None does
 * while that would leave the model below its count because another replica is down.
 */
export function handOver(draft: Draft): void {
  const modelIds = new Set(
    draft.replicas().flatMap((replica) => (replica.phase === "moving" ? [replica.modelId] : [])),
  );
  for (const modelId of modelIds) {
    const { replaced, surplus } = moversOf(draft, modelId);
    for (const { original, replacement } of replaced) {
      const provenMs = replacement.provenSinceMs === null ? -1 : draft.nowMs - replacement.provenSinceMs;
      if (replacement.phase !== "serving" || provenMs < draft.settings.provenMs) continue;
      if (canSpare(draft, modelId)) leaveTable(draft, original);
    }
    for (const original of surplus) if (canSpare(draft, modelId)) leaveTable(draft, original);
  }
}

/** One serving or moving replica less would still be the desired number. */
export function canSpare(draft: Draft, modelId: string): boolean {
  return countServing(draft.replicasOf(modelId)) > desiredCount(draft.facts.models.get(modelId));
}

function leaveTable(draft: Draft, original: Replica): void {
  const leaving = leavingOf(draft.facts, original);
  setPhase(draft, original, { to: "draining", reason: goneReason(leaving) ?? original.reason, routing: true });
}

function goneReason(leaving: Leaving | null): Reason | null {
  if (leaving === null) return null;
  return leaving.kind === "rollout"
    ? reason("replaced_by_revision", { model: leaving.model.id, revision: leaving.model.revision })
    : reason("drained_away", { node: leaving.node.node.name });
}

function isOnLostNode(leaving: Leaving | null): boolean {
  return leaving !== null && leaving.kind !== "rollout" && leaving.node.liveness === "lost";
}

function mayServe(draft: Draft, replica: Replica): boolean {
  const head = headShard(replica);
  const ordered = replica.shards.some((shard) => shard.stopRequestedAtMs !== null && shard.releasedAtMs === null);
  return head !== null && !ordered && draft.facts.observation(head)?.phase === "ready";
}
