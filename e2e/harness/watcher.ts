import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";

/** Samples every 100 ms what a router says it could send to, and how many replicas hold a place. */
export class Watcher {
  leastServing = Number.POSITIVE_INFINITY;
  mostReplicas = 0;
  readonly #cluster: Cluster;
  readonly #model: string;
  #stop = false;
  #running: Promise<void> = Promise.resolve();

  constructor(cluster: Cluster, model: string) {
    this.#cluster = cluster;
    this.#model = model;
  }

  start(): this {
    this.#running = this.#run();
    return this;
  }

  async stop(): Promise<void> {
    this.#stop = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stop) {
      for (const router of this.#cluster.routers) {
        const usable = await usableEndpoints(router.diagnosticsUrl);
        if (usable !== null) this.leastServing = Math.min(this.leastServing, usable);
      }
      try {
        const replicas = await this.#cluster.client.replicas.list.query({ model: this.#model });
        const placed = replicas.filter((replica) => !["pending", "stopped"].includes(replica.phase)).length;
        this.mostReplicas = Math.max(this.mostReplicas, placed);
      } catch {
        // the admin is down just now, which is part of some tests
      }
      await sleep(100);
    }
  }
}

/** Endpoints of a router that it may send new requests to, by the states its metrics show; null while it is down. */
async function usableEndpoints(diagnosticsUrl: string): Promise<number | null> {
  try {
    const answer = await fetch(`${diagnosticsUrl}/debug/endpoints`);
    const table = (await answer.json()) as { models: { endpoints: { state: string; breaker: string }[] }[] };
    return table.models
      .flatMap((model) => model.endpoints)
      .filter(({ state }) => state === "serving" || state === "moving").length;
  } catch {
    return null;
  }
}
