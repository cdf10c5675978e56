import type { EndpointReport, Router } from "../cluster/router.ts";
import { testNowMs } from "./instant.ts";

/** A live router that has applied version 1 and knows no endpoint. */
export function aRouter(overrides: Partial<Router> = {}): Router {
  const name = overrides.name ?? "r1";
  return {
    id: `router_${name}`,
    name,
    session: `session-${name}`,
    address: "127.0.0.31:8080",
    version: "0.1.0",
    lastSeenAtMs: testNowMs - 500,
    leftAtMs: null,
    appliedVersion: 1,
    endpoints: [],
    ...overrides,
  };
}

/** A router's word on an idle endpoint that it reached. */
export function anEndpointReport(overrides: Partial<EndpointReport> = {}): EndpointReport {
  return { replicaId: "m-aaaaa", generation: 1, inflight: 0, probe: "ok", breaker: "closed", ...overrides };
}
