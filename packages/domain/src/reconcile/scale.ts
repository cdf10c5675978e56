import type { Model } from "../cluster/model.ts";
import type { Replica } from "../cluster/replica.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { type Draft, desiredCount, setPhase, stopShards } from "./draft.ts";
import { isMember } from "./leaving.ts";

/**
 * Takes away what models have too much of: scaled down, deleted, or a replacement whose original is kept. What serves
 * nothing goes first; what serves drains, without replacement.
 */
export function dropSurplus(draft: Draft): void {
  for (const model of draft.facts.models.values()) {
    const replicas = draft.replicasOf(model.id);
    const members = replicas.filter(isMember);
    const desired = desiredCount(model);
    const surplus = members.length - desired;
    const why = dropReason(model, members.length);
    if (surplus > 0) {
      const order = [...members].sort((a, b) => rank(draft, a) - rank(draft, b) || newestFirst(a, b));
      for (const replica of order.slice(0, surplus)) drop(draft, replica, why);
    }
    if (model.deletedAtMs === null) continue;
    for (const replica of replicas) if (replica.phase === "moving") drop(draft, replica, why);
  }
}

function drop(draft: Draft, replica: Replica, why: Reason): void {
  if (replica.offeredAtMs !== null) {
    setPhase(draft, replica, { to: "draining", reason: why, routing: true });
    return;
  }
  const stopping = setPhase(draft, replica, { to: "stopping", reason: why, routing: false, notBeforeMs: null });
  stopShards(draft, stopping);
}

/** What is given up first: lowest. */
function rank(draft: Draft, replica: Replica): number {
  switch (replica.phase) {
    case "failed":
      return 0;
    case "pending":
      return 1;
    case "starting":
      return replica.offeredAtMs === null ? 2 : 3;
    default: {
      // A replacement whose original is kept goes before the original.
      const original = replica.replaces === null ? null : draft.replica(replica.replaces);
      if (original?.phase === "serving") return 4;
      return replica.provenSinceMs === null ? 5 : 6;
    }
  }
}

function dropReason(model: Model, from: number): Reason {
  return model.deletedAtMs === null
    ? reason("scaled_down", { from, to: desiredCount(model) })
    : reason("model_deleted", { model: model.id });
}

function newestFirst(a: Replica, b: Replica): number {
  return b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1);
}
