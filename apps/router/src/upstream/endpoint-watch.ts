import type { EngineReading } from "@llmgw/domain";
import type { MetricsReader } from "@llmgw/engines";
import type { Clock, Logger, RunGroupPart } from "@llmgw/service";
import type { Registry } from "../registry/registry.ts";
import { EngineClient } from "./engine-client.ts";
import { type ProbeResult, probeEndpoint } from "./probe.ts";
import type { ProbeState, UpstreamEndpoint } from "./upstream-endpoint.ts";

export interface EndpointWatchOptions {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

interface ScrapeLoop {
  readonly endpoint: UpstreamEndpoint;
  readonly reader: MetricsReader;
  readonly signal: AbortSignal;
}

const PROBE_TIMEOUT_MS = 2_000;
const PROBE_UNTIL_OK_MS = 2_000;
const PROBE_WHEN_OK_MS = 10_000;
/** Not all engines of a new table at the same instant, and none long after it. */
const MAX_FIRST_SCRAPE_MS = 200;
/** A busy engine may miss a probe: so many in a row before one that was well is called failed. */
const PROBE_FAILURES = 3;

/** Knows how the engines are: a readiness probe and a metrics scrape of each, on their own, one outstanding at a time. */
export class EndpointWatch implements RunGroupPart {
  readonly name = "endpoint watch";
  readonly #options: EndpointWatchOptions;
  readonly #client = new EngineClient();
  readonly #watches = new Map<UpstreamEndpoint, AbortController>();
  readonly #loops = new Set<Promise<void>>();
  #signal: AbortSignal | null = null;

  constructor(options: EndpointWatchOptions) {
    this.#options = options;
    options.registry.onChange(({ added, removed }) => {
      for (const endpoint of removed) this.#watches.get(endpoint)?.abort();
      for (const endpoint of removed) this.#watches.delete(endpoint);
      for (const endpoint of added) this.#watch(endpoint);
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    for (const endpoint of this.#options.registry.endpoints) this.#watch(endpoint);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await Promise.all(this.#loops);
    await this.#client.close();
  }

  #watch(endpoint: UpstreamEndpoint): void {
    if (this.#signal === null || this.#signal.aborted || this.#watches.has(endpoint)) return;
    const stop = new AbortController();
    this.#watches.set(endpoint, stop);
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    this.#start(this.#probeLoop(endpoint, signal), signal);
    const reader = endpoint.metricsReader;
    if (reader !== undefined) this.#start(this.#scrapeLoop({ endpoint, reader, signal }), signal);
  }

  #start(loop: Promise<void>, signal: AbortSignal): void {
    const guarded = loop
      .catch((error: unknown) => {
        if (!signal.aborted) this.#options.log.error({ error }, "the watch over an endpoint failed");
      })
      .finally(() => this.#loops.delete(guarded));
    this.#loops.add(guarded);
  }

  async #probeLoop(endpoint: UpstreamEndpoint, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const modelId = this.#modelOf(endpoint);
      const result = await probeEndpoint({
        endpoint,
        modelId,
        client: this.#client,
        timeoutMs: PROBE_TIMEOUT_MS,
        signal,
      });
      failures = result.kind === "listed" ? 0 : failures + 1;
      this.#record(endpoint, result, failures);
      const intervalMs = result.kind === "listed" ? PROBE_WHEN_OK_MS : PROBE_UNTIL_OK_MS;
      await clock.sleep(intervalMs * (0.9 + 0.2 * random()), signal);
    }
  }

  #record(endpoint: UpstreamEndpoint, result: ProbeResult, failures: number): void {
    const { clock } = this.#options;
    const before = endpoint.probe;
    endpoint.probeProblem = result.kind === "listed" ? null : result.problem;
    if (result.kind === "listed") {
      endpoint.probe = "ok";
      endpoint.setReadiness("ready", clock.monotonicMs());
    } else if (before !== "ok" || failures >= PROBE_FAILURES) {
      endpoint.probe = "failed";
      // One that has been ready stays in rotation: being busy is not being dead, and the breaker sees to the rest.
      if (endpoint.readiness !== "ready") {
        endpoint.setReadiness(result.kind === "unlisted" ? "unknown" : "unready", clock.monotonicMs());
      }
    }
    if (endpoint.probe === before) return;
    this.#logChange(endpoint, before);
    this.#options.registry.pump();
  }

  #logChange(endpoint: UpstreamEndpoint, before: ProbeState): void {
    const { replica, generation } = endpoint.entry;
    const fields = { replica, generation, before, probe: endpoint.probe, problem: endpoint.probeProblem };
    this.#options.log.info(fields, "readiness of an endpoint changed");
  }

  async #scrapeLoop({ endpoint, reader, signal }: ScrapeLoop): Promise<void> {
    const { clock, random, registry } = this.#options;
    await clock.sleep(Math.min(MAX_FIRST_SCRAPE_MS, 0.2 * registry.settings.scrape.intervalMs) * random(), signal);
    while (!signal.aborted) {
      const startMs = clock.monotonicMs();
      const mark = endpoint.markScrape();
      const reading = await this.#scrape({ endpoint, reader, signal });
      if (reading !== null) {
        endpoint.recordScrape(reading, mark, clock.monotonicMs());
        registry.pump();
      }
      const { intervalMs } = registry.settings.scrape;
      await clock.sleep(Math.max(intervalMs / 10, startMs + intervalMs - clock.monotonicMs()), signal);
    }
  }

  /** Null when the engine does not answer, or not with its counts: its numbers then grow stale. */
  async #scrape({ endpoint, reader, signal }: ScrapeLoop): Promise<EngineReading | null> {
    const { timeoutMs } = this.#options.registry.settings.scrape;
    const url = endpoint.metricsUrl;
    // An engine's key is for that engine's own address only.
    const apiKey = new URL(url).origin === endpoint.origin ? endpoint.entry.apiKey : null;
    const answer = await this.#client.get({ url, apiKey, timeoutMs, signal });
    return answer.kind === "answered" && answer.status === 200 ? reader(answer.text) : null;
  }

  #modelOf(endpoint: UpstreamEndpoint): string {
    const route = this.#options.registry.models.find(({ endpoints }) => endpoints.includes(endpoint));
    return route?.id ?? "";
  }
}
