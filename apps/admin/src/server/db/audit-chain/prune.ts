import type { Database } from "../database.ts";
import type { Fence } from "../lease.ts";
import { write } from "../write.ts";

const ROWS_AT_ONCE = 5_000;

/**
 * Deletes the oldest sealed rows from before `keepMs` ago, at most 5,000 of them, and says so in the audit.
 * @returns how many were deleted; 0 also when the lease is not held (any more).
 */
export async function pruneAudit(database: Database, fence: Fence, keepMs: number): Promise<number> {
  const written = await write(
    database,
    async ({ tx, nowMs, audit }) => {
      const before = new Date(nowMs - keepMs);
      const rows = await tx.$queryRaw<{ pruned: number }[]>`
        SELECT audit_prune(${before}, ${ROWS_AT_ONCE}::integer) AS pruned`;
      const pruned = rows[0]?.pruned ?? 0;
      if (pruned > 0) {
        audit({
          ...{ actorKind: "system", actor: "housekeeping", role: null, source: null, verb: "audit.prune" },
          ...{ target: "audit", after: { rows: pruned, before: before.toISOString() }, reason: null },
          ...{ outcome: "ok", requestId: null, cause: null },
        });
      }
      return pruned;
    },
    fence,
  );
  return written.kind === "done" ? written.value : 0;
}
