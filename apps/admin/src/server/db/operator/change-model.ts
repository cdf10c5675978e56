import { isDeepStrictEqual } from "node:util";
import { type Model, type ModelSpec, revised, rolledBack } from "@llmgw/domain";
import type { AuditEntry } from "../audit.ts";
import { type Database, fromJson, type Tx, toJson } from "../database.ts";
import { Prisma } from "../generated/client.ts";
import { readModels } from "../read-models.ts";
import { type Write, write } from "../write.ts";

export type Applied =
  | { readonly kind: "created" | "updated" | "unchanged" }
  | { readonly kind: "name_taken"; readonly name: string; readonly model: string };

/**
 * Stores a model's spec. A change of what engines are started with is a new revision and begins a rollout of the replicas
 * that run; everything else takes effect at once. A deleted model of this id comes back.
 */
export async function applyModel(
  database: Database,
  order: { readonly spec: ModelSpec; readonly by: string },
  audit: (before: ModelSpec | null, after: ModelSpec) => AuditEntry,
): Promise<Applied> {
  const { spec, by } = order;
  const written = await write(database, async (transaction): Promise<Applied> => {
    const { tx, nowMs, changed, audit: record } = transaction;
    const taken = await nameTaken(tx, spec);
    if (taken !== null) return { kind: "name_taken", ...taken };
    const [known] = await readModels(tx, [spec.id]);
    const now = new Date(nowMs);
    if (known === undefined) {
      await tx.model.create({ data: { id: spec.id, spec: toJson(spec), createdAt: now, updatedAt: now } });
      await keepRevision(transaction, { modelId: spec.id, revision: 1, spec, by });
      changed();
      record(audit(null, spec));
      return { kind: "created" };
    }
    const revives = known.deletedAtMs !== null;
    record(audit(revives ? null : known.spec, spec));
    if (!revives && isDeepStrictEqual(known.spec, plain(spec))) return { kind: "unchanged" };
    const latest = await tx.modelRevision.aggregate({ where: { modelId: spec.id }, _max: { revision: true } });
    const revising = { nowMs, by, acceptGap: false, latest: latest._max.revision ?? known.revision };
    await store(transaction, known, { model: revised(known, spec, revising), by });
    if (revives) await tx.model.update({ where: { id: spec.id }, data: { deletedAt: null, createdAt: now } });
    return { kind: revives ? "created" : "updated" };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

export type RolledBack =
  | { readonly kind: "done" }
  | { readonly kind: "unknown" }
  /** There is no such revision to go back to; these are there. */
  | { readonly kind: "no_revision"; readonly present: number; readonly known: readonly number[] };

/** Takes a model back to an earlier revision: null is the one that it came from. */
export async function rollBackModel(
  database: Database,
  order: { readonly modelId: string; readonly revision: number | null; readonly by: string },
  audit: (before: number, after: number) => AuditEntry,
): Promise<RolledBack> {
  const { modelId, revision, by } = order;
  const written = await write(database, async (transaction): Promise<RolledBack> => {
    const { tx, nowMs, audit: record } = transaction;
    const [known] = await readModels(tx, [modelId]);
    if (known === undefined || known.deletedAtMs !== null) return { kind: "unknown" };
    const rows = await tx.modelRevision.findMany({ where: { modelId }, orderBy: { revision: "asc" } });
    const revisions = rows
      .filter((row) => row.revision !== known.revision)
      .map((row) => ({ revision: row.revision, spec: fromJson<ModelSpec>(row.spec) }));
    const model = rolledBack({ ...known, revisions }, revision, { nowMs, by, acceptGap: false });
    if (model === null) {
      return { kind: "no_revision", present: known.revision, known: revisions.map((found) => found.revision) };
    }
    record(audit(known.revision, model.revision));
    await store(transaction, known, { model, by });
    return { kind: "done" };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

export type GapAccepted = { readonly kind: "done" } | { readonly kind: "unknown" } | { readonly kind: "no_rollout" };

/** Lets a rollout with `whenFull: replace` end the last replica that serves, too. */
export async function acceptGap(
  database: Database,
  modelId: string,
  audit: (revision: number) => AuditEntry,
): Promise<GapAccepted> {
  const written = await write(database, async (transaction): Promise<GapAccepted> => {
    const [known] = await readModels(transaction.tx, [modelId]);
    if (known === undefined || known.deletedAtMs !== null) return { kind: "unknown" };
    if (known.rollout === null || known.rollout.failedAtMs !== null) return { kind: "no_rollout" };
    transaction.audit(audit(known.revision));
    const rollout = toJson({ ...known.rollout, acceptGap: true });
    await transaction.tx.model.update({ where: { id: modelId }, data: { rollout } });
    transaction.changed();
    return { kind: "done" };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

/** Writes what the domain made of the model. */
async function store(
  transaction: Write,
  before: Model,
  { model, by }: { readonly model: Model; readonly by: string },
): Promise<void> {
  const { id, spec, revision, rollout } = model;
  await transaction.tx.model.update({
    where: { id },
    data: {
      spec: toJson(spec),
      revision,
      rollout: rollout === null ? Prisma.DbNull : toJson(rollout),
      updatedAt: new Date(transaction.nowMs),
      // What the former revision took to load says nothing of this one.
      ...(revision === before.revision ? {} : { loadTimes: [] }),
    },
  });
  await keepRevision(transaction, { modelId: id, revision, spec, by });
  transaction.changed();
}

async function keepRevision(
  { tx, nowMs }: Write,
  { modelId, revision, spec, by }: { modelId: string; revision: number; spec: ModelSpec; by: string },
): Promise<void> {
  await tx.modelRevision.upsert({
    where: { modelId_revision: { modelId, revision } },
    create: { modelId, revision, spec: toJson(spec), by, createdAt: new Date(nowMs) },
    update: { spec: toJson(spec) },
  });
}

/** As it comes back from the database: without what JSON does not carry. */
function plain(spec: ModelSpec): ModelSpec {
  return JSON.parse(JSON.stringify(spec));
}

async function nameTaken(tx: Tx, spec: ModelSpec): Promise<{ name: string; model: string } | null> {
  const others = await tx.model.findMany({ where: { deletedAt: null, id: { not: spec.id } } });
  const wanted = [spec.id, ...spec.aliases];
  for (const other of others) {
    const names = [other.id, ...fromJson<ModelSpec>(other.spec).aliases];
    const name = wanted.find((one) => names.includes(one));
    if (name !== undefined) return { name, model: other.id };
  }
  return null;
}

export type ModelChanged = { readonly kind: "done" } | { readonly kind: "unknown" };

/** Changes how many replicas a model is to have. */
export async function scaleModel(
  database: Database,
  order: { readonly modelId: string; readonly replicas: number },
  audit: (before: number, after: number) => AuditEntry,
): Promise<ModelChanged> {
  const { modelId, replicas } = order;
  const written = await write(database, async ({ tx, nowMs, changed, audit: record }): Promise<ModelChanged> => {
    const row = await tx.model.findUnique({ where: { id: modelId } });
    if (row === null || row.deletedAt !== null) return { kind: "unknown" };
    const spec = fromJson<ModelSpec>(row.spec);
    record(audit(spec.replicas, replicas));
    if (spec.replicas === replicas) return { kind: "done" };
    const data = { spec: toJson({ ...spec, replicas }), updatedAt: new Date(nowMs) };
    await tx.model.update({ where: { id: modelId }, data });
    changed();
    return { kind: "done" };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

/** Deletes a model: its id answers 404 as soon as routers hear of it, its replicas drain. */
export async function deleteModel(
  database: Database,
  modelId: string,
  audit: (before: ModelSpec) => AuditEntry,
): Promise<ModelChanged> {
  const written = await write(database, async ({ tx, nowMs, changed, audit: record }): Promise<ModelChanged> => {
    const row = await tx.model.findUnique({ where: { id: modelId } });
    if (row === null || row.deletedAt !== null) return { kind: "unknown" };
    await tx.model.update({ where: { id: modelId }, data: { deletedAt: new Date(nowMs) } });
    record(audit(fromJson(row.spec)));
    changed();
    return { kind: "done" };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}
