import { type Drain, drainCovers, type MoveStep } from "../cluster/drain.ts";
import type { Replica } from "../cluster/replica.ts";
import type { Shard } from "../cluster/shard.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { type Draft, desiredCount } from "./draft.ts";
import { nodeName } from "./facts.ts";
import { canSpare } from "./leave.ts";
import { countServing, moversOf, needsSlot, replacementOf, slotsInUse } from "./leaving.ts";
import { quietness, stoppingReason, unprovenReason } from "./proof.ts";
import { surgeOf } from "./surge.ts";

export interface MoveStatus {
  readonly step: MoveStep;
  readonly replacementId: string | null;
  /** What it waits for; null while nothing holds it up. */
  readonly reason: Reason | null;
}

/** How far a replica is on its way off a draining node, and what it waits for. The plan and the drain view share it. */
export function moveStatus(draft: Draft, drain: Drain, replica: Replica): MoveStatus {
  const here = coveredShards(drain, replica);
  const replacement = replacementOf(draft, replica);
  const replacementId = replacement?.id ?? null;
  if (here.length === 0) return { step: "stopped", replacementId, reason: null };
  if (here.every((shard) => shard.stopRequestedAtMs !== null)) {
    return { step: "stopping", replacementId, reason: stoppingReason(draft.facts, replica) };
  }
  switch (replica.phase) {
    case "draining":
      return { step: "draining", replacementId, reason: quietness(draft.facts, replica).reason };
    case "moving":
      return replacement === null
        ? { step: "queued", replacementId, reason: queuedReason(draft, replica) }
        : { replacementId, ...replacementStatus(draft, { drain, original: replica, replacement }) };
    case "lost":
      return replacement === null
        ? { step: "queued", replacementId, reason: replica.reason }
        : { replacementId, ...replacementStatus(draft, { drain, original: replica, replacement }) };
    default:
      return { step: "queued", replacementId, reason: null };
  }
}

/** Shards of the replica that have to go for the drain to end and are not confirmed gone. */
export function coveredShards(drain: Drain, replica: Replica): readonly Shard[] {
  return replica.shards.filter((shard) => shard.releasedAtMs === null && drainCovers(drain, shard));
}

interface Pair {
  readonly drain: Drain;
  readonly original: Replica;
  readonly replacement: Replica;
}

function replacementStatus(draft: Draft, pair: Pair): Pick<MoveStatus, "step" | "reason"> {
  const { original, replacement } = pair;
  switch (replacement.phase) {
    case "starting":
      return { step: "loading", reason: unprovenReason(draft.facts, replacement) };
    case "serving":
      return { step: "replacementServing", reason: provingReason(draft, original, replacement) };
    case "failed":
      return { step: "placing", reason: failingReason(draft, replacement) };
    default:
      return { step: "placing", reason: placingReason(draft, pair) };
  }
}

/** Why a moving original has no replacement yet. */
function queuedReason(draft: Draft, original: Replica): Reason | null {
  if (moversOf(draft, original.modelId).surplus.includes(original)) return keptReason(draft, original.modelId);
  return slotReason(draft, original);
}

function slotReason(draft: Draft, original: Replica): Reason | null {
  const model = draft.facts.models.get(original.modelId);
  const maxSurge = model === undefined ? 1 : surgeOf(draft, model).allowed;
  const inUse = slotsInUse(draft, original.modelId);
  return needsSlot(original) && inUse >= maxSurge
    ? reason("queued_behind", { model: original.modelId, inUse, maxSurge })
    : null;
}

function placingReason(draft: Draft, { drain, original, replacement }: Pair): Reason | null {
  const found = replacement.reason;
  if (found === null) return slotReason(draft, original);
  if (found.code === "no_fit") {
    const { nearest, nearestReason } = found.params;
    return reason("waits_for_capacity", {
      nearest,
      deadlineMs: drain.deadlineAtMs,
      ...(nearestReason === undefined ? {} : { nearestReason }),
    });
  }
  return found;
}

function failingReason(draft: Draft, replacement: Replica): Reason {
  const last = replacement.failures.at(-1);
  const params = replacement.reason?.params;
  return reason("replacement_failing", {
    replica: replacement.id,
    node: last === undefined ? "" : nodeName(draft.facts, last.nodeId),
    cause: params !== undefined && "cause" in params ? params.cause : "did not start",
  });
}

function provingReason(draft: Draft, original: Replica, replacement: Replica): Reason | null {
  if (replacement.provenSinceMs === null) return unprovenReason(draft.facts, replacement);
  const forMs = draft.nowMs - replacement.provenSinceMs;
  const needMs = draft.settings.provenMs;
  if (forMs < needMs) return reason("proving_replacement", { replica: replacement.id, forMs, needMs });
  return keptReason(draft, original.modelId);
}

function keptReason(draft: Draft, modelId: string): Reason | null {
  if (canSpare(draft, modelId)) return null;
  return reason("kept_for_count", {
    model: modelId,
    serving: countServing(draft.replicasOf(modelId)),
    desired: desiredCount(draft.facts.models.get(modelId)),
  });
}
