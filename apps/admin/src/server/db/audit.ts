import type { Tx } from "./database.ts";
import { toJson } from "./database.ts";
import { Prisma } from "./generated/client.ts";

/** One row of the audit before it has its number and its time. */
export interface AuditEntry {
  readonly actorKind: "user" | "token" | "node" | "router" | "system" | "anonymous";
  readonly actor: string;
  readonly role: string | null;
  readonly source: string | null;
  readonly verb: string;
  readonly target: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly reason: string | null;
  readonly outcome: "ok" | "denied" | "failed";
  readonly requestId: string | null;
  readonly cause: string | null;
}

/** Writes rows numbered from `firstSeq`. Only `write` calls it: it holds the lock that keeps numbers in commit order. */
export async function insertAudit(tx: Tx, entries: readonly AuditEntry[], firstSeq: number): Promise<void> {
  if (entries.length === 0) return;
  await tx.audit.createMany({
    data: entries.map(({ before, after, ...entry }, index) => ({
      ...entry,
      seq: BigInt(firstSeq + index),
      before: orNull(before),
      after: orNull(after),
    })),
  });
}

function orNull(value: unknown) {
  return value === undefined || value === null ? Prisma.DbNull : toJson(value);
}
