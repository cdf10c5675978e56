import cluster, { type Worker } from "node:cluster";
import type { Clock, Health, Logger, RunGroupPart } from "@llmgw/service";
import { AggregatorRegistry, Registry as MetricsRegistry } from "prom-client";
import { type FromWorker, isOurs, type ToWorker } from "./worker-message.ts";

const RESTART_MS = 1_000;
const ANSWER_MS = 2_000;

interface Slot {
  worker: Worker | null;
  health: Health | null;
  restarts: number;
}

/**
 * Several routers on one port, each a process of its own with its share of every limit. This one serves no requests: it
 * starts them, starts anew what dies, passes signals on, and knows of all of them what the diagnostics listener shows.
 */
export class WorkerPool implements RunGroupPart {
  readonly name = "workers";
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #slots: readonly Slot[];
  readonly #answers = new Map<number, (page: unknown) => void>();
  readonly metrics: MetricsRegistry = new WorkersMetrics();
  #questions = 0;
  #isStopping = false;
  #fail: (error: Error) => void = () => undefined;

  constructor({ count, clock, log }: { count: number; clock: Clock; log: Logger }) {
    this.#clock = clock;
    this.#log = log;
    this.#slots = Array.from({ length: count }, () => ({ worker: null, health: null, restarts: 0 }));
  }

  health(): Health {
    const isOk = this.#slots.every(({ health }) => health?.status === "ok");
    const workers = this.#slots.map(({ worker, health, restarts }) => ({
      pid: worker?.process.pid ?? null,
      restarts,
      ...(health ?? { status: "starting" }),
    }));
    return { status: isOk ? "ok" : "not_ready", draining: this.#isStopping, workers };
  }

  /** The page of each worker; null for one that does not answer. */
  endpointsPage(): Promise<unknown> {
    return Promise.all(this.#slots.map(({ worker }) => (worker === null ? null : this.#ask(worker))));
  }

  async run(signal: AbortSignal): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    const onHangUp = () => this.#signal("SIGHUP");
    process.on("SIGHUP", onHangUp);
    const ends = this.#slots.map((slot, index) => this.#keep(slot, index, signal));
    signal.addEventListener("abort", () => this.#stop(), { once: true });
    try {
      await Promise.race([Promise.all(ends), failed]);
    } catch (error) {
      this.#stop();
      await Promise.all(ends);
      throw error;
    } finally {
      process.off("SIGHUP", onHangUp);
    }
  }

  /** Keeps one worker running until the router stops. */
  async #keep(slot: Slot, index: number, signal: AbortSignal): Promise<void> {
    while (!this.#isStopping) {
      const code = await this.#runOnce(slot, index);
      if (this.#isStopping) return;
      if (slot.health === null) {
        // It never came up: what it said about that stands above this in the log, and another try would say it again.
        this.#fail(new Error(`worker ${index} ended with code ${code} before it served`));
        return;
      }
      slot.health = null;
      slot.restarts += 1;
      this.#log.error({ worker: index, code }, "a worker died; another one takes its place");
      await this.#clock.sleep(RESTART_MS, signal).catch(() => undefined); // stopped meanwhile
    }
  }

  async #runOnce(slot: Slot, index: number): Promise<number | null> {
    const worker = cluster.fork();
    slot.worker = worker;
    const share: ToWorker = { llmgw: "share", share: { index, count: this.#slots.length } };
    worker.on("message", (message: unknown) => {
      if (!isOurs<FromWorker>(message)) return;
      if (message.llmgw === "share?") worker.send(share);
      else if (message.llmgw === "health") slot.health = message.health;
      else this.#answers.get(message.id)?.(message.page);
    });
    worker.on("error", (error) => this.#log.warn({ worker: index, error }, "a worker cannot be reached"));
    const code = await new Promise<number | null>((resolve) =>
      worker.once("exit", (exit: number | null) => resolve(exit)),
    );
    slot.worker = null;
    return code;
  }

  async #ask(worker: Worker): Promise<unknown> {
    this.#questions += 1;
    const id = this.#questions;
    const answered = new AbortController();
    const answer = new Promise<unknown>((resolve) => this.#answers.set(id, resolve));
    worker.send({ llmgw: "endpoints?", id } satisfies ToWorker);
    const late = this.#clock.sleep(ANSWER_MS, answered.signal).then(
      () => null,
      () => null, // answered in time
    );
    try {
      return await Promise.race([answer, late]);
    } finally {
      answered.abort();
      this.#answers.delete(id);
    }
  }

  #stop(): void {
    this.#isStopping = true;
    this.#signal("SIGTERM");
  }

  #signal(name: NodeJS.Signals): void {
    for (const { worker } of this.#slots) worker?.process.kill(name);
  }
}

/** The metrics of all workers as one page: sums, but for the gauges that say otherwise. */
class WorkersMetrics extends MetricsRegistry {
  readonly #aggregator = new AggregatorRegistry();

  override async metrics(): Promise<string> {
    return await this.#aggregator.clusterMetrics();
  }
}
