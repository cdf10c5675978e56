import type { AuditInput, AuditView } from "@llmgw/api";
import { type Database, fromJson } from "./database.ts";

/** Rows that pass the filters, newest first, from before a number on. */
export async function readAudit(
  database: Database,
  input: AuditInput,
): Promise<{ rows: AuditView[]; nextBefore: number | null }> {
  const { before, limit, actor, verb, target, cause, outcome } = input;
  const rows = await database.audit.findMany({
    where: {
      ...(before === undefined ? {} : { seq: { lt: BigInt(before) } }),
      ...(actor === undefined ? {} : { actor }),
      ...(verb === undefined ? {} : { verb }),
      ...(target === undefined ? {} : { target }),
      ...(cause === undefined ? {} : { cause }),
      ...(outcome === undefined ? {} : { outcome }),
    },
    orderBy: { seq: "desc" },
    take: limit + 1,
  });
  const shown = rows.slice(0, limit);
  const counts = await database.auditDenied.findMany({
    where: { seq: { in: shown.filter((row) => row.outcome !== "ok").map((row) => row.seq) } },
  });
  const attempts = new Map(counts.map((row) => [row.seq, row.count]));
  return {
    rows: shown.map(
      (row): AuditView => ({
        seq: Number(row.seq),
        at: row.at.toISOString(),
        actorKind: fromJson(row.actorKind),
        actor: row.actor,
        role: row.role,
        source: row.source,
        verb: row.verb,
        target: row.target,
        before: row.before,
        after: attempts.has(row.seq)
          ? { ...fromJson<object | null>(row.after), attempts: attempts.get(row.seq) }
          : row.after,
        reason: row.reason,
        outcome: fromJson(row.outcome),
        requestId: row.requestId,
        cause: row.cause,
      }),
    ),
    nextBefore: rows.length > limit ? Number(shown.at(-1)?.seq ?? 0) : null,
  };
}
