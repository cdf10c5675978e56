import type { Model } from "../cluster/model.ts";
import type { Replica } from "../cluster/replica.ts";
import type { Draft } from "./draft.ts";
import { deadlineOf, moversOf, needsSlot, replacementOf, slotsInUse } from "./leaving.ts";
import { placeReplica } from "./place-replica.ts";
import { hasRoomToStart, surgeOf } from "./surge.ts";

/** Makes the id of a new replica of a model: `<model slug>-<suffix>`. */
export interface ReplicaIds {
  /** Five characters of a-z2-7, never given twice. */
  replicaSuffix(): string;
}

/** A replica that wants a place, or an original that wants a replacement (then `replica` is made when its turn comes). */
interface Opening {
  readonly model: Model;
  readonly replica: Replica | null;
  /** The original, while it is still moving. */
  readonly original: Replica | null;
  /** Repairs (0), then moves (1), then new replicas (2). */
  readonly rank: 0 | 1 | 2;
  readonly urgencyMs: number;
}

/**
 * Makes the replicas that models lack and places what waits, in the order in which a free GPU is given away: repairs,
 * moves by deadline, new models and scale-ups by age, larger ones first on ties. A move needs one of its model's slots
 * only to place its replacement; one that finds no room holds none.
 */
export function fill(draft: Draft, ids: ReplicaIds): void {
  const openings: Opening[] = [];
  for (const model of draft.facts.models.values()) {
    if (model.deletedAtMs === null) openings.push(...openingsOf(draft, model, ids));
  }
  openings.sort(byTurn);
  for (const { model, replica, original } of openings) {
    if (original !== null && needsSlot(original) && slotsInUse(draft, model.id) >= surgeOf(draft, model).allowed)
      continue;
    if (!hasRoomToStart(draft, model)) continue;
    placeReplica(draft, model, replica ?? create(draft, { model, replaces: original, ids }));
  }
}

function openingsOf(draft: Draft, model: Model, ids: ReplicaIds): readonly Opening[] {
  const { waiting, missing } = moversOf(draft, model.id);
  const lost = draft
    .replicasOf(model.id)
    .filter((replica) => replica.phase === "lost" && replacementOf(draft, replica) === null);
  for (let index = 0; index < missing; index += 1) create(draft, { model, replaces: lost[index] ?? null, ids });

  const openings: Opening[] = waiting.map((original) => ({
    model,
    replica: null,
    original,
    rank: 1,
    urgencyMs: deadlineOf(draft, original),
  }));
  for (const replica of draft.replicasOf(model.id)) {
    if (replica.phase !== "pending" && replica.phase !== "failed") continue;
    const replaced = replica.replaces === null ? null : draft.replica(replica.replaces);
    const original = replaced?.phase === "moving" ? replaced : null;
    const isRepair = replica.generation > 0 || replica.replaces !== null;
    openings.push({
      model,
      replica,
      original,
      rank: original !== null ? 1 : isRepair ? 0 : 2,
      urgencyMs: original !== null ? deadlineOf(draft, original) : replica.createdAtMs,
    });
  }
  return openings;
}

function create(
  draft: Draft,
  { model, replaces, ids }: { readonly model: Model; readonly replaces: Replica | null; readonly ids: ReplicaIds },
): Replica {
  const replicaId = `${slugOf(model.id)}-${ids.replicaSuffix()}`;
  draft.decide({
    kind: "create_replica",
    replicaId,
    modelId: model.id,
    modelRevision: model.revision,
    replaces: replaces?.id ?? null,
    drainId: replaces?.drainId ?? null,
  });
  const created = draft.replica(replicaId);
  if (created === null) throw new Error(`the replica ${replicaId} was not created`);
  return created;
}

/** A model id as it stands in replica ids and labels: lower case, other characters than letters and digits as dashes. */
export function slugOf(modelId: string): string {
  const slug = modelId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  return slug === "" ? "model" : slug;
}

function byTurn(a: Opening, b: Opening): number {
  return (
    a.rank - b.rank ||
    a.urgencyMs - b.urgencyMs ||
    b.model.spec.resources.tp - a.model.spec.resources.tp ||
    b.model.spec.resources.memoryPerGpuMib - a.model.spec.resources.memoryPerGpuMib ||
    (turnId(a) < turnId(b) ? -1 : 1)
  );
}

function turnId(opening: Opening): string {
  return opening.original?.id ?? opening.replica?.id ?? opening.model.id;
}
