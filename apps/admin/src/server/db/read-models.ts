import type { Model } from "@llmgw/domain";
import { fromJson, millisecondsOf, millisecondsOrNull, type Queryable } from "./database.ts";

/**
 * Models, the deleted ones too, with the earlier revisions that are still needed: those that replicas which are not
 * stopped were made from, the one that a rollout came from, and the one before the present.
 */
export async function readModels(tx: Queryable, ids?: readonly string[]): Promise<Model[]> {
  const where = ids === undefined ? {} : { id: { in: [...ids] } };
  const rows = await tx.model.findMany({ where, orderBy: { id: "asc" } });
  const revisions = await tx.$queryRaw<{ model_id: string; revision: number; spec: unknown }[]>`
    SELECT v.model_id, v.revision, v.spec FROM model_revision v JOIN model m ON m.id = v.model_id
    WHERE v.revision <> m.revision AND v.model_id = ANY(${rows.map((row) => row.id)}) AND (
      v.revision = (m.rollout->>'fromRevision')::int
      OR v.revision = (SELECT max(w.revision) FROM model_revision w
                       WHERE w.model_id = m.id AND w.revision < m.revision)
      OR EXISTS (SELECT 1 FROM replica r
                 WHERE r.model_id = m.id AND r.model_revision = v.revision AND r.phase <> 'stopped'))
    ORDER BY v.model_id, v.revision`;
  return rows.map((row) => ({
    id: row.id,
    spec: fromJson(row.spec),
    revision: row.revision,
    createdAtMs: millisecondsOf(row.createdAt),
    deletedAtMs: millisecondsOrNull(row.deletedAt),
    revisions: revisions
      .filter((found) => found.model_id === row.id)
      .map(({ revision, spec }) => ({ revision, spec: fromJson(spec) })),
    rollout: fromJson(row.rollout),
    loadTimesMs: fromJson(row.loadTimes),
  }));
}
