import type { AuditEntry } from "./audit.ts";
import type { Database } from "./database.ts";
import { write } from "./write.ts";

const MINUTE_MS = 60_000;

/** Records a call that was denied or failed: the first of its kind in a minute as an audit row, the others as its count. */
export async function recordRefused(database: Database, entry: AuditEntry): Promise<void> {
  const { actor } = entry;
  const verb = `${entry.verb} ${entry.target} ${entry.outcome}`;
  const counted = await database.$executeRaw`
    UPDATE audit_denied SET count = count + 1
    WHERE actor = ${actor} AND verb = ${verb} AND minute = date_trunc('minute', now())`;
  if (counted > 0) return;
  await write(database, async ({ tx, nowMs, audit }) => {
    const minute = new Date(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS);
    const { seq } = await tx.cluster.findUniqueOrThrow({ where: { one: 1 }, select: { seq: true } });
    const known = await tx.auditDenied.updateMany({
      where: { actor, verb, minute },
      data: { count: { increment: 1 } },
    });
    if (known.count > 0) return;
    // This row is the transaction's only one, so the next number is its own.
    await tx.auditDenied.create({ data: { actor, verb, minute, seq: seq + 1n } });
    audit(entry);
  });
}
