import type { Database, Queryable } from "./database.ts";

/** The name of the lease that the control loop runs under. */
export const loopLease = "loop";

/** Proof of who holds a lease: every take-over has a higher epoch, so that a late write of an old holder is refused. */
export interface Fence {
  readonly holder: string;
  readonly epoch: number;
}

export interface HeldLease extends Fence {
  /** When this holder took it, database clock. */
  readonly takenAtMs: number;
}

interface LeaseRow {
  readonly epoch: bigint;
  readonly taken_at: Date;
}

/**
 * Takes or renews the lease, in one statement on the database clock: renewed by its holder (same epoch), taken by
 * another only when it ran out (epoch + 1). Null: somebody else holds it.
 */
export async function acquireLease(
  database: Database,
  options: { readonly holder: string; readonly leaseMs: number },
): Promise<HeldLease | null> {
  const { holder, leaseMs } = options;
  const rows = await database.$queryRaw<LeaseRow[]>`
    INSERT INTO lease AS l (name, holder, epoch, taken_at, expires_at)
    VALUES (${loopLease}, ${holder}, 1, clock_timestamp(), clock_timestamp() + ${leaseMs} * interval '1 millisecond')
    ON CONFLICT (name) DO UPDATE SET
      epoch = CASE WHEN l.holder = ${holder} AND l.expires_at > clock_timestamp() THEN l.epoch ELSE l.epoch + 1 END,
      taken_at = CASE WHEN l.holder = ${holder} AND l.expires_at > clock_timestamp() THEN l.taken_at
                      ELSE clock_timestamp() END,
      holder = ${holder},
      expires_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    WHERE l.holder = ${holder} OR l.expires_at <= clock_timestamp()
    RETURNING epoch, taken_at`;
  const row = rows[0];
  return row === undefined ? null : { holder, epoch: Number(row.epoch), takenAtMs: row.taken_at.getTime() };
}

/** Lets the lease go, so that another admin need not wait until it runs out. */
export async function releaseLease(database: Database, fence: Fence): Promise<void> {
  await database.$executeRaw`
    UPDATE lease SET expires_at = clock_timestamp()
    WHERE name = ${loopLease} AND holder = ${fence.holder} AND epoch = ${BigInt(fence.epoch)}`;
}

/** Who holds the lease now; null when nobody does. */
export async function leaseHolder(database: Queryable): Promise<{ holder: string; takenAtMs: number } | null> {
  const rows = await database.$queryRaw<{ holder: string; taken_at: Date }[]>`
    SELECT holder, taken_at FROM lease WHERE name = ${loopLease} AND expires_at > clock_timestamp()`;
  const row = rows[0];
  return row === undefined ? null : { holder: row.holder, takenAtMs: row.taken_at.getTime() };
}
