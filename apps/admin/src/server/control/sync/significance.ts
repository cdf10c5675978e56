import type { ShardObservation } from "@llmgw/domain";
import type { RouterReport } from "@llmgw/wire";

/** Two consecutive idle reads are the proof that an engine is quiet. */
const QUIET_READS = 2;

/** What an agent's report tells that somebody waits for, as a text that changes exactly when it does. */
export function agentSummary(report: {
  readonly appliedVersion: number;
  readonly shards: readonly ShardObservation[];
  readonly gpuProbeError: string | null;
}): string {
  const shards = report.shards.map(({ replicaId, generation, rank, phase, url, exit, activity }) => [
    replicaId,
    generation,
    rank,
    phase,
    url,
    exit !== null,
    activity === null ? null : [activity.zeroReads >= QUIET_READS, activity.sinceVersion],
  ]);
  return JSON.stringify([report.appliedVersion, report.gpuProbeError, shards]);
}

/** As `agentSummary` for a router. In-flight counts matter only where an endpoint drains, and there only 0 or not. */
export function routerSummary(
  request: { readonly appliedVersion: number; readonly leaving: boolean; readonly report: RouterReport },
  isDraining: (replicaId: string) => boolean,
): string {
  const endpoints = request.report.endpoints.map(({ replicaId, generation, probe, breaker, inflight }) => [
    replicaId,
    generation,
    probe,
    breaker,
    isDraining(replicaId) ? inflight === 0 : null,
  ]);
  return JSON.stringify([request.appliedVersion, request.leaving, endpoints]);
}
