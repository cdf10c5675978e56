import { type ClusterSnapshot, type ControlSettings, nodeAvailability, nodeLiveness } from "@llmgw/domain";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface AdminMetrics {
  readonly registry: Registry;
  observePass(durationMs: number): void;
  countSync(kind: "agent" | "router"): void;
}

/**
 * The control plane's metrics. What the cluster looks like is counted at scrape time from the state that this admin
 * last read, not mirrored on every change.
 */
export function createMetrics(source: {
  readonly snapshot: () => Promise<ClusterSnapshot>;
  readonly settings: ControlSettings;
  readonly leaseHeld: () => boolean;
  readonly held: () => boolean;
}): AdminMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const passes = new Histogram({
    name: "llmgw_reconcile_duration_seconds",
    help: "Duration of a pass of the control loop: read, plan, commit",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });
  const syncs = new Counter({
    name: "llmgw_sync_requests_total",
    help: "Polls of agents and routers",
    labelNames: ["kind"] as const,
    registers,
  });
  new Gauge({
    name: "llmgw_lease_held",
    help: "1 while this admin runs the control loop",
    registers,
    collect() {
      this.set(source.leaseHeld() ? 1 : 0);
    },
  });
  new Gauge({
    name: "llmgw_held",
    help: "1 while this database is older than what agents and routers run, so that nothing is decided from it",
    registers,
    collect() {
      this.set(source.held() ? 1 : 0);
    },
  });
  collectCluster(registry, source);
  return {
    registry,
    observePass: (durationMs) => passes.observe(durationMs / 1000),
    countSync: (kind) => syncs.inc({ kind }),
  };
}

function collectCluster(
  registry: Registry,
  source: { readonly snapshot: () => Promise<ClusterSnapshot>; readonly settings: ControlSettings },
): void {
  const registers = [registry];
  const nodes = new Gauge({
    name: "llmgw_nodes",
    help: "Nodes by availability and liveness",
    labelNames: ["availability", "liveness"] as const,
    registers,
  });
  const drains = new Gauge({ name: "llmgw_drains_open", help: "Drains under way", registers });
  new Gauge({
    name: "llmgw_replicas",
    help: "Replicas by model and phase, stopped ones left out",
    labelNames: ["model", "phase"] as const,
    registers,
    async collect() {
      const snapshot = await source.snapshot();
      this.reset();
      nodes.reset();
      for (const { modelId, phase } of snapshot.replicas) {
        if (phase !== "stopped") this.inc({ model: modelId, phase });
      }
      for (const node of snapshot.nodes) {
        const { nowMs, controlSinceMs } = snapshot;
        const liveness = nodeLiveness(node, { nowMs, controlSinceMs, settings: source.settings });
        nodes.inc({ availability: nodeAvailability(node, snapshot.drains), liveness });
      }
      drains.set(snapshot.drains.filter((drain) => drain.endedAtMs === null).length);
    },
  });
}
