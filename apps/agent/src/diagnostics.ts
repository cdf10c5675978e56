import type { Clock, Health } from "@llmgw/service";
import { collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { GpuMonitor } from "./gpus/gpu-monitor.ts";
import type { SyncLoop } from "./report/sync-loop.ts";
import type { Supervisor } from "./supervise/supervisor.ts";

export interface Watched {
  readonly supervisor: Supervisor;
  readonly sync: SyncLoop;
  readonly gpus: GpuMonitor;
  readonly clock: Clock;
  readonly nodeName: string;
}

/** What `/health` says: ready once the admin has answered; what is wrong in words otherwise. */
export function agentHealth({ supervisor, sync, gpus, clock, nodeName }: Watched): Health {
  const { nodeId, answeredAtMs, problem } = sync.status;
  const { desired, hold } = supervisor.state;
  return {
    status: answeredAtMs === null || hold !== null ? "not_ready" : "ok",
    node: nodeName,
    nodeId,
    clusterId: desired.clusterId,
    appliedVersion: desired.version,
    hold,
    adminProblem: problem,
    answeredAgoMs: answeredAtMs === null ? null : Math.round(clock.monotonicMs() - answeredAtMs),
    gpuProblem: gpus.report.error,
    shards: supervisor.observations().map(({ replicaId, rank, generation, phase, pid, url }) => ({
      ...{ replicaId, rank, generation, phase, pid, url },
    })),
  };
}

/** The agent's own metrics, read from its state when they are asked for. */
export function agentMetrics({ supervisor, sync, gpus, clock }: Watched): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new Gauge({
    name: "llmgw_agent_shards",
    help: "Shards of this node by phase",
    labelNames: ["phase"],
    registers,
    collect() {
      this.reset();
      for (const { phase } of supervisor.observations()) this.inc({ phase });
    },
  });
  new Gauge({
    name: "llmgw_agent_admin_answered_seconds",
    help: "Age of the admin's last answer; absent before the first",
    registers,
    collect() {
      this.remove();
      const { answeredAtMs } = sync.status;
      if (answeredAtMs !== null) this.set((clock.monotonicMs() - answeredAtMs) / 1000);
    },
  });
  new Gauge({
    name: "llmgw_agent_hold",
    help: "1 while the admin's answers are not applied (other cluster, older version)",
    registers,
    collect() {
      this.set(supervisor.state.hold === null ? 0 : 1);
    },
  });
  new Gauge({
    name: "llmgw_agent_gpus",
    help: "GPUs that the last probe saw; absent while it fails",
    registers,
    collect() {
      this.remove();
      if (gpus.report.gpus !== null) this.set(gpus.report.gpus.length);
    },
  });
  return registry;
}
