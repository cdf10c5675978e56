import { rememberedReturns } from "@llmgw/domain";
import type { AgentReport } from "@llmgw/wire";
import { reportChannel } from "./channels.ts";
import type { Database } from "./database.ts";
import { Prisma } from "./generated/client.ts";
import { loopLease } from "./lease.ts";

/** What a node's last report changes in its row. */
export interface NodeReportRow {
  readonly nodeId: string;
  readonly session: string;
  readonly appliedVersion: number;
  readonly report: Pick<
    AgentReport,
    "address" | "agentVersion" | "labels" | "engines" | "sources" | "shards" | "gpuProbeError"
  >;
}

/**
 * Saves reports in one statement, seen now by the database clock; a node that had been silent for `suspectAfterMs` while
 * somebody listened remembers its return (`returnsAfterWord` of the domain says the same). Answers the nodes that were saved: a report of a
 * session that does not hold its node any more is left out. `urgent` wakes whoever runs the control loop.
 */
export async function saveNodeReports(
  database: Database,
  rows: readonly NodeReportRow[],
  { urgent, suspectAfterMs }: { readonly urgent: boolean; readonly suspectAfterMs: number },
): Promise<ReadonlySet<string>> {
  const data = rows.map(({ nodeId, session, appliedVersion, report }) => ({
    id: nodeId,
    session,
    applied_version: appliedVersion,
    address: report.address,
    agent_version: report.agentVersion,
    labels: report.labels,
    engines: report.engines,
    sources: report.sources,
    observations: report.shards,
    gpu_probe_error: report.gpuProbeError,
  }));
  const notify = urgent ? Prisma.sql`pg_notify(${reportChannel}, '')::text` : Prisma.sql`''`;
  const saved = await database.$queryRaw<{ id: string }[]>`
    WITH saved AS (
      UPDATE node n SET last_seen_at = now(), returns = CASE
          WHEN extract(epoch FROM now() - greatest(n.last_seen_at, l.taken_at)) * 1000 < ${suspectAfterMs}
            OR n.last_seen_at IS NULL THEN n.returns
          ELSE (SELECT coalesce(jsonb_agg(r.at ORDER BY r.place), '[]') FROM (
                  SELECT at, place FROM jsonb_array_elements(
                    n.returns || to_jsonb(floor(extract(epoch FROM now()) * 1000)::bigint))
                    WITH ORDINALITY AS e(at, place)
                  ORDER BY place DESC LIMIT ${rememberedReturns}) r) END,
        applied_version = v.applied_version, address = v.address,
        agent_version = v.agent_version, labels = v.labels, engines = v.engines, sources = v.sources,
        observations = v.observations, gpu_probe_error = v.gpu_probe_error
      FROM jsonb_to_recordset(${JSON.stringify(data)}::jsonb) AS v(
        id text, session text, applied_version bigint, address text, agent_version text, labels jsonb, engines jsonb,
        sources jsonb, observations jsonb, gpu_probe_error text)
        LEFT JOIN lease l ON l.name = ${loopLease}
      WHERE n.id = v.id AND n.session = v.session AND n.removed_at IS NULL
      RETURNING n.id
    ), notified AS (SELECT ${notify} AS done)
    SELECT saved.id FROM saved, notified`;
  return new Set(saved.map((row) => row.id));
}
