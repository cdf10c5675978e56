import type { ModelRoute } from "../registry/model-route.ts";
import type { Registry } from "../registry/registry.ts";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";

/** The table in force with its live numbers, for `/debug/endpoints`. Engine keys and key hashes are not in it. */
export function endpointsPage(registry: Registry, nowMs: number) {
  return {
    clusterId: registry.table?.clusterId ?? null,
    version: registry.table?.version ?? null,
    models: registry.models.map((model) => modelView(model, nowMs)),
  };
}

function modelView(model: ModelRoute, nowMs: number) {
  const { id, aliases, policy } = model.entry;
  return {
    id,
    aliases,
    policy,
    queued: model.queued,
    endpoints: model.endpoints.map((endpoint) => endpointView(endpoint, nowMs)),
  };
}

function endpointView(endpoint: UpstreamEndpoint, nowMs: number) {
  const { replica, generation, url, pool, engine, state, maxConcurrent } = endpoint.entry;
  return {
    replica,
    generation,
    url,
    pool,
    engine,
    state,
    maxConcurrent,
    maxInflight: endpoint.maxInflight,
    inflight: endpoint.inflight,
    readiness: endpoint.readiness,
    probe: endpoint.probe,
    probeProblem: endpoint.probeProblem,
    breaker: endpoint.breakerState(nowMs),
    breakerWaitMs: Math.round(endpoint.breakerWaitMs(nowMs)),
    reading: endpoint.lastReading,
    stale: endpoint.isStale(nowMs),
    drainRatePerSecond: endpoint.drainRate(nowMs),
    completions: endpoint.completed,
    failures: endpoint.failed,
  };
}
