import type { Database, Tx } from "../database.ts";
import { type Fence, loopLease } from "../lease.ts";
import { chainStart, type Link, sealOf } from "./link.ts";

const ROWS_AT_ONCE = 500;

/**
 * Seals the rows that are not sealed yet, at most 500, in the order of their numbers. Numbers follow the order of commits
 * without gaps, so a row that can be read has all the earlier ones before it.
 * @returns how many were sealed; 0 also when the lease is not held (any more).
 * @throws when a number is missing: somebody deleted a row before it was sealed.
 */
export function sealAudit(database: Database, fence: Fence): Promise<number> {
  return database.$transaction(
    async (tx) => {
      if (!(await holdsLease(tx, fence))) return 0;
      let last = await lastSeal(tx);
      const seals: Link[] = [];
      const after = { seq: { gt: last.seq } };
      const rows = await tx.audit.findMany({ where: after, orderBy: { seq: "asc" }, take: ROWS_AT_ONCE });
      for (const row of rows) {
        if (row.seq !== last.seq + 1n) {
          throw new Error(
            `the audit has no row ${last.seq + 1n}, but row ${row.seq}: it was deleted before it was sealed`,
          );
        }
        last = sealOf(last, row);
        seals.push(last);
      }
      if (seals.length > 0) {
        await tx.auditSeal.createMany({ data: seals.map(({ seq, hash }) => ({ seq, hash: Buffer.from(hash) })) });
      }
      return seals.length;
    },
    { timeout: 10_000, maxWait: 5_000 },
  );
}

async function holdsLease(tx: Tx, fence: Fence): Promise<boolean> {
  const held = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM lease WHERE name = ${loopLease} AND holder = ${fence.holder} AND epoch = ${BigInt(fence.epoch)}
      AND expires_at > clock_timestamp() FOR SHARE`;
  return held.length > 0;
}

/** Where the chain ends. */
async function lastSeal(tx: Tx): Promise<Link> {
  const newest = { orderBy: { seq: "desc" } } as const;
  return (await tx.auditSeal.findFirst(newest)) ?? (await tx.auditAnchor.findFirst(newest)) ?? chainStart;
}
