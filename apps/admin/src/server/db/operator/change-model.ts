import { isDeepStrictEqual } from "node:util";
import type { ModelSpec } from "@llmgw/domain";
import type { AuditEntry } from "../audit.ts";
import { type Database, fromJson, type Tx, toJson } from "../database.ts";
import { write } from "../write.ts";

export type Applied =
  | { readonly kind: "created" | "updated" | "unchanged" }
  | { readonly kind: "name_taken"; readonly name: string; readonly model: string };

/**
 * Stores a model's spec. Its revision, which says what replicas are made from, grows with every change but that of the
 * count of replicas. A deleted model of this id comes back.
 */
export async function applyModel(
  database: Database,
  spec: ModelSpec,
  audit: (before: ModelSpec | null, after: ModelSpec) => AuditEntry,
): Promise<Applied> {
  const written = await write(database, async ({ tx, nowMs, changed, audit: record }): Promise<Applied> => {
    const taken = await nameTaken(tx, spec);
    if (taken !== null) return { kind: "name_taken", ...taken };
    const row = await tx.model.findUnique({ where: { id: spec.id } });
    const now = new Date(nowMs);
    if (row === null) {
      await tx.model.create({ data: { id: spec.id, spec: toJson(spec), createdAt: now, updatedAt: now } });
      changed();
      record(audit(null, spec));
      return { kind: "created" };
    }
    const before = fromJson<ModelSpec>(row.spec);
    const revives = row.deletedAt !== null;
    record(audit(revives ? null : before, spec));
    if (!revives && isDeepStrictEqual(before, plain(spec))) return { kind: "unchanged" };
    const onlyCount = isDeepStrictEqual({ ...before, replicas: 0 }, { ...plain(spec), replicas: 0 });
    await tx.model.update({
      where: { id: spec.id },
      data: {
        spec: toJson(spec),
        updatedAt: now,
        deletedAt: null,
        ...(revives ? { createdAt: now } : {}),
        ...(onlyCount ? {} : { revision: { increment: 1 } }),
      },
    });
    changed();
    return { kind: revives ? "created" : "updated" };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
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
