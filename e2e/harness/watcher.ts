import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";

/** Samples every 100 ms what each router says it could send to, and how many replicas hold a place. */
export class Watcher {
  /** Rounds in which every router and the admin answered. */
  samples = 0;
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
      const [placed, ...usable] = await Promise.all([
        this.#placed(),
        ...this.#cluster.routers.map(({ diagnosticsUrl }) => usableEndpoints(diagnosticsUrl)),
      ]);
      for (const count of usable) this.leastServing = Math.min(this.leastServing, count ?? Number.POSITIVE_INFINITY);
      this.mostReplicas = Math.max(this.mostReplicas, placed ?? 0);
      if (placed !== null && !usable.includes(null)) this.samples += 1;
      await sleep(100);
    }
  }

  /** Replicas that hold a place; null while the admin is down, which is part of some tests. */
  async #placed(): Promise<number | null> {
    try {
      const replicas = await this.#cluster.client.replicas.list.query({ model: this.#model });
      return replicas.filter((replica) => !["pending", "stopped"].includes(replica.phase)).length;
    } catch {
      return null;
    }
  }
}

/** Endpoints that a router may send new requests to, by their state and breaker; null while it is down. */
async function usableEndpoints(diagnosticsUrl: string): Promise<number | null> {
  try {
    const answer = await fetch(`${diagnosticsUrl}/debug/endpoints`);
    const table = (await answer.json()) as { models: { endpoints: { state: string; breaker: string }[] }[] };
    return table.models
      .flatMap((model) => model.endpoints)
      .filter(({ state, breaker }) => (state === "serving" || state === "moving") && breaker !== "open").length;
  } catch {
    return null;
  }
}
