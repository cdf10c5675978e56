import type { Clock, Health, RunGroupPart } from "@llmgw/service";
import { AggregatorRegistry, type Registry as MetricsRegistry } from "prom-client";
import { type FromWorker, isOurs, type ToWorker } from "./worker-message.ts";
import type { WorkerShare } from "./worker-share.ts";

const HEALTH_MS = 500;

/** Asks which worker this process is. It has to ask: what is sent to it before it listens is lost. */
export function receiveShare(): Promise<WorkerShare> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown) => {
      if (!isOurs<ToWorker>(message) || message.llmgw !== "share") return;
      process.off("message", onMessage);
      resolve(message.share);
    };
    process.on("message", onMessage);
    process.send?.({ llmgw: "share?" } satisfies FromWorker);
  });
}

export interface WorkerLinkOptions {
  readonly metrics: MetricsRegistry;
  readonly health: () => Health;
  readonly endpointsPage: () => unknown;
  readonly clock: Clock;
}

/** Tells the process that watches over the workers how this one is. It has the diagnostics listener; a worker has none. */
export function workerLink({ metrics, health, endpointsPage, clock }: WorkerLinkOptions): RunGroupPart {
  return {
    name: "worker link",
    stopsLast: true,
    run: async (signal) => {
      AggregatorRegistry.setRegistries([metrics]);
      const aggregator = new AggregatorRegistry(); // answers the questions of the one in the other process
      const tell = (message: FromWorker) => process.send?.(message);
      const onMessage = (message: unknown) => {
        if (!isOurs<ToWorker>(message) || message.llmgw !== "endpoints?") return;
        tell({ llmgw: "endpoints", id: message.id, page: endpointsPage() });
      };
      process.on("message", onMessage);
      try {
        while (!signal.aborted) {
          tell({ llmgw: "health", health: health() });
          await clock.sleep(HEALTH_MS, signal);
        }
      } finally {
        process.off("message", onMessage);
        aggregator.clear();
      }
    },
  };
}
