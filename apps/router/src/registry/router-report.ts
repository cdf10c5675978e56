import { modelSaturation } from "@llmgw/domain";
import type { EndpointReportWire, RouterReport } from "@llmgw/wire";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";
import type { ModelRoute } from "./model-route.ts";
import type { Registry } from "./registry.ts";

export interface RouterFacts {
  readonly name: string;
  /** The client listener's URL. */
  readonly address: string;
  readonly version: string;
}

/** A router's word to the admin: every endpoint it knows and every model, as they are now (`nowMs`: monotonic). */
export function routerReport(registry: Registry, facts: RouterFacts, nowMs: number): RouterReport {
  return {
    ...facts,
    endpoints: registry.endpoints.map((endpoint) => endpointReport(endpoint, nowMs)),
    models: registry.models.map((model) => ({
      id: model.id,
      saturation: saturationOf(model, registry, nowMs),
      queued: Object.fromEntries(registry.settings.admission.bands.map((band, rank) => [band, model.depth(rank)])),
    })),
  };
}

function saturationOf(model: ModelRoute, registry: Registry, nowMs: number): number {
  const loads = model.routable.map((endpoint) => endpoint.load(nowMs));
  return modelSaturation(loads, registry.settings.saturation);
}

function endpointReport(endpoint: UpstreamEndpoint, nowMs: number): EndpointReportWire {
  const { replica, generation } = endpoint.entry;
  const reading = endpoint.lastReading;
  return {
    replicaId: replica,
    generation,
    inflight: endpoint.inflight,
    probe: endpoint.probe,
    breaker: endpoint.breakerState(nowMs),
    completions: endpoint.completed,
    failures: endpoint.failed,
    running: reading?.running ?? null,
    waiting: reading?.waiting ?? null,
    kvUsageRatio: reading?.kvUsageRatio ?? null,
    drainRatePerSecond: endpoint.drainRate(nowMs),
    stale: endpoint.isStale(nowMs),
  };
}

/** What the admin wants to hear of at once: readiness, breakers, and which draining endpoints are empty. */
export function urgentFacts(registry: Registry, nowMs: number): string {
  return registry.endpoints
    .map((endpoint) => {
      const { replica, generation, state } = endpoint.entry;
      const quiet = state === "draining" && endpoint.inflight === 0 ? "quiet" : "";
      return `${replica}/${generation} ${endpoint.probe} ${endpoint.breakerState(nowMs)} ${quiet}`;
    })
    .join("\n");
}
