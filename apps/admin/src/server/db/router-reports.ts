import type { RouterReport } from "@llmgw/wire";
import { reportChannel } from "./channels.ts";
import type { Database } from "./database.ts";
import { Prisma } from "./generated/client.ts";

export interface RouterReportRow {
  readonly id: string;
  readonly session: string;
  readonly appliedVersion: number;
  readonly leaving: boolean;
  readonly report: RouterReport;
}

/** Saves routers' reports in one statement, seen now by the database clock; a router that leaves is marked as gone. */
export async function saveRouterReports(
  database: Database,
  rows: readonly RouterReportRow[],
  { urgent }: { readonly urgent: boolean },
): Promise<void> {
  const data = rows.map(({ id, session, appliedVersion, leaving, report }) => ({
    id,
    session,
    name: report.name,
    address: report.address,
    version: report.version,
    applied_version: appliedVersion,
    leaving,
    report: { endpoints: report.endpoints, models: report.models },
  }));
  const notify = urgent ? Prisma.sql`pg_notify(${reportChannel}, '')::text` : Prisma.sql`''`;
  await database.$queryRaw`
    WITH saved AS (
      INSERT INTO router AS r (id, session, name, address, version, applied_version, report, last_seen_at, left_at)
      SELECT id, session, name, address, version, applied_version, report, now(), CASE WHEN leaving THEN now() END
      FROM jsonb_to_recordset(${JSON.stringify(data)}::jsonb) AS v(
        id text, session text, name text, address text, version text, applied_version bigint, leaving boolean,
        report jsonb)
      ORDER BY id
      ON CONFLICT (id) DO UPDATE SET session = excluded.session, name = excluded.name, address = excluded.address,
        version = excluded.version, applied_version = excluded.applied_version, report = excluded.report,
        last_seen_at = excluded.last_seen_at, left_at = excluded.left_at
    ) SELECT ${notify} AS notified`;
}

/** Names of live routers that have not said yet that they serve from a table of this version. */
export async function routersBehind(
  database: Database,
  { version, leaseMs }: { readonly version: number; readonly leaseMs: number },
): Promise<string[]> {
  const rows = await database.$queryRaw<{ name: string }[]>`
    SELECT name FROM router
    WHERE left_at IS NULL AND last_seen_at > now() - make_interval(secs => ${leaseMs / 1_000})
      AND applied_version < ${BigInt(version)}
    ORDER BY name`;
  return rows.map(({ name }) => name);
}

/** How many routers are live: they share the limits of keys. */
export async function countLiveRouters(database: Database, leaseMs: number): Promise<number> {
  const [row] = await database.$queryRaw<{ count: bigint }[]>`
    SELECT count(*) FROM router
    WHERE left_at IS NULL AND last_seen_at > now() - make_interval(secs => ${leaseMs / 1_000})`;
  return Number(row?.count ?? 0);
}
