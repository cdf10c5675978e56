import { modelSaturation } from "@llmgw/domain";
import type { ModelRoute } from "../registry/model-route.ts";
import type { Registry } from "../registry/registry.ts";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";
import type { DecisionLog } from "./decision-log.ts";

/** The table in force with its live numbers and the last explained decisions, for `/debug/endpoints`. Engine keys and key hashes are not in it. */
export function endpointsPage(registry: Registry, decisions: DecisionLog, nowMs: number) {
  return {
    clusterId: registry.table?.clusterId ?? null,
    version: registry.table?.version ?? null,
    models: registry.models.map((model) => modelView(model, registry, nowMs)),
    decisions: decisions.decisions,
  };
}

function modelView(model: ModelRoute, { settings }: Registry, nowMs: number) {
  const { id, aliases, policy } = model.entry;
  const loads = model.routable.map((endpoint) => endpoint.load(nowMs));
  return {
    id,
    aliases,
    policy,
    saturation: modelSaturation(loads, settings.saturation),
    queued: Object.fromEntries(settings.admission.bands.map((band, rank) => [band, model.depth(rank)])),
    drainRatePerSecond: model.drainRate(),
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
    fullness: endpoint.fullness(nowMs),
    score: endpoint.score(nowMs),
    weight: endpoint.weight(nowMs),
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
