import type { AgentReport } from "@llmgw/wire";
import { reportChannel } from "./channels.ts";
import type { Database } from "./database.ts";
import { Prisma } from "./generated/client.ts";

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
 * Saves reports in one statement, seen now by the database clock. Answers the nodes that were saved: a report of a
 * session that does not hold its node any more is left out. `urgent` wakes whoever runs the control loop.
 */
export async function saveNodeReports(
  database: Database,
  rows: readonly NodeReportRow[],
  { urgent }: { readonly urgent: boolean },
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
      UPDATE node n SET last_seen_at = now(), applied_version = v.applied_version, address = v.address,
        agent_version = v.agent_version, labels = v.labels, engines = v.engines, sources = v.sources,
        observations = v.observations, gpu_probe_error = v.gpu_probe_error
      FROM jsonb_to_recordset(${JSON.stringify(data)}::jsonb) AS v(
        id text, session text, applied_version bigint, address text, agent_version text, labels jsonb, engines jsonb,
        sources jsonb, observations jsonb, gpu_probe_error text)
      WHERE n.id = v.id AND n.session = v.session AND n.removed_at IS NULL
      RETURNING n.id
    ), notified AS (SELECT ${notify} AS done)
    SELECT saved.id FROM saved, notified`;
  return new Set(saved.map((row) => row.id));
}
