import { type AuditEntry, insertAudit } from "./audit.ts";
import { versionChannel } from "./channels.ts";
import type { Database, Tx } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { type Fence, loopLease } from "./lease.ts";

/** One transaction that changes what the cluster is to do. */
export interface Write {
  readonly tx: Tx;
  /** The database clock, ms. */
  readonly nowMs: number;
  /** The version that this transaction gets if it calls `changed`. */
  readonly nextVersion: number;
  /** Desired state or the endpoint table changes: the version grows with the commit, and everyone is woken. */
  changed(): void;
  /** A row of the audit, written with the commit. */
  audit(entry: AuditEntry): void;
}

export type Written<T> =
  | { readonly kind: "done"; readonly value: T }
  /** The lease was lost: somebody else runs the control loop now. */
  | { readonly kind: "fenced" };

interface ClusterLock {
  readonly version: bigint;
  readonly seq: bigint;
  readonly now: Date;
}

/**
 * Runs `body` in one transaction under the cluster's one writer lock: its row. Whoever changes desired state takes it
 * first, so what `body` reads and checks cannot change before the commit, versions and audit numbers follow commit
 * order without gaps, and two such transactions never wait for each other in a circle. With `fence` the transaction
 * only happens while that lease is held.
 */
export function write<T>(
  database: Database,
  body: (write: Write) => Promise<T>,
  fence: Fence | null = null,
): Promise<Written<T>> {
  return database.$transaction(
    async (tx): Promise<Written<T>> => {
      const lock = await lockCluster(tx, fence);
      if (lock === undefined) {
        if (fence === null) throw new Error("the database has no cluster row");
        return { kind: "fenced" };
      }
      const entries: AuditEntry[] = [];
      let changes = false;
      const value = await body({
        tx,
        nowMs: lock.now.getTime(),
        nextVersion: Number(lock.version) + 1,
        changed: () => {
          changes = true;
        },
        audit: (entry) => entries.push(entry),
      });
      await insertAudit(tx, entries, Number(lock.seq) + 1);
      if (changes || entries.length > 0) await advance(tx, { versions: changes ? 1 : 0, seqs: entries.length });
      return { kind: "done", value };
    },
    { timeout: 10_000, maxWait: 5_000 },
  );
}

async function lockCluster(tx: Tx, fence: Fence | null): Promise<ClusterLock | undefined> {
  const rows =
    fence === null
      ? await tx.$queryRaw<ClusterLock[]>`
          SELECT version, seq, clock_timestamp() AS now FROM cluster WHERE one = 1 FOR UPDATE`
      : await tx.$queryRaw<ClusterLock[]>`
          SELECT c.version, c.seq, clock_timestamp() AS now
          FROM cluster c JOIN lease l ON l.name = ${loopLease} AND l.holder = ${fence.holder}
            AND l.epoch = ${BigInt(fence.epoch)} AND l.expires_at > clock_timestamp()
          WHERE c.one = 1 FOR UPDATE OF c FOR SHARE OF l`;
  return rows[0];
}

async function advance(tx: Tx, by: { versions: number; seqs: number }): Promise<void> {
  const notify = by.versions > 0 ? Prisma.sql`pg_notify(${versionChannel}, '')::text` : Prisma.sql`''`;
  await tx.$queryRaw`
    UPDATE cluster SET version = version + ${by.versions}, seq = seq + ${by.seqs} WHERE one = 1
    RETURNING version, ${notify} AS notified`;
}
