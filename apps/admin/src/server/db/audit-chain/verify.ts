import type { AuditVerification } from "@llmgw/api";
import type { Database } from "../database.ts";
import { chainStart, type Link, sealOf } from "./link.ts";

const ROWS_AT_ONCE = 1_000;

/**
 * Follows the chain from its anchor over every sealed row, and checks that none is missing up to the number that the
 * cluster gave last. The first problem ends it. Reads everything: some ten thousand rows a second.
 */
export async function verifyAudit(database: Database, signal: AbortSignal): Promise<AuditVerification> {
  // What was given out before looking: rows that come while it looks are not asked for.
  const { seq: given } = await database.cluster.findUniqueOrThrow({ where: { one: 1 }, select: { seq: true } });
  const newestSeal = await database.auditSeal.findFirst({ orderBy: { seq: "desc" }, select: { seq: true } });
  const anchor = await database.auditAnchor.findFirst({ orderBy: { seq: "desc" } });
  const start: Link = anchor ?? chainStart;
  let at = start;
  const sealedTo = newestSeal?.seq ?? start.seq;
  const outcome = (problem: AuditVerification["problem"]): AuditVerification => ({
    firstSeq: Number(start.seq) + 1,
    lastSeq: Number(at.seq),
    unsealed: Number(at.seq > sealedTo ? at.seq - sealedTo : 0n),
    prunedAt: anchor?.at.toISOString() ?? null,
    problem,
  });
  while (at.seq < given) {
    signal.throwIfAborted();
    const page = { gt: at.seq, lte: given };
    const order = { orderBy: { seq: "asc" }, take: ROWS_AT_ONCE } as const;
    const [rows, seals] = await Promise.all([
      database.audit.findMany({ where: { seq: page }, ...order }),
      database.auditSeal.findMany({ where: { seq: page }, ...order }),
    ]);
    const hashes = new Map(seals.map(({ seq, hash }) => [seq, hash]));
    if (rows.length === 0) return outcome({ kind: "missing", seq: Number(at.seq) + 1 });
    for (const row of rows) {
      if (row.seq !== at.seq + 1n) return outcome({ kind: "missing", seq: Number(at.seq) + 1 });
      const expected = sealOf(at, row);
      const found = hashes.get(row.seq);
      if (row.seq <= sealedTo) {
        if (found === undefined) return outcome({ kind: "seal_missing", seq: Number(row.seq) });
        if (Buffer.compare(found, expected.hash) !== 0) return outcome({ kind: "changed", seq: Number(row.seq) });
      }
      at = expected;
    }
  }
  return outcome(null);
}
