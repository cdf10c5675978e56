import { createLogger, type Logger, systemClock } from "@llmgw/service";
import { DecisionLog } from "../diagnostics/decision-log.ts";
import { RouterMetrics } from "../diagnostics/router-metrics.ts";
import { ClientListener } from "../http/client-listener.ts";
import type { Exchange, ExchangeEnd } from "../http/exchange.ts";
import { BodyMemory } from "../http/gateway.ts";
import { Registry } from "../registry/registry.ts";
import { readStaticConfig } from "../registry/static-config.ts";
import type { Span } from "../tracing/otlp-exporter.ts";
import { Tracer } from "../tracing/tracer.ts";
import { EndpointWatch } from "../upstream/endpoint-watch.ts";
import { TimerWheel } from "../upstream/timer-wheel.ts";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";
import { RawClient } from "./raw-client.ts";

const log: Logger = createLogger({ name: "router", level: "silent" });

/** The request path of a router on a free port of this process, with real sockets and clocks. */
export class TestRouter {
  readonly registry: Registry;
  readonly metrics: RouterMetrics;
  readonly bodyMemory = new BodyMemory();
  readonly decisions = new DecisionLog();
  readonly spans: Span[] = [];
  readonly tracer = new Tracer({
    export: (span) => this.spans.push(span),
    ratio: 1,
    clock: systemClock,
    random: Math.random,
  });
  readonly ends: (ExchangeEnd & { readonly attempts: number; readonly hadFirstToken: boolean })[] = [];
  readonly #listener: ClientListener;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>[] = [];
  readonly #waiting = new Set<() => void>();
  #version = 1;
  port = 0;

  private constructor(document: unknown) {
    const config = configOf(document, 1);
    this.registry = new Registry({ settings: config.settings, clock: systemClock, random: Math.random, log });
    this.metrics = new RouterMetrics(this.registry, systemClock);
    const wheel = new TimerWheel(systemClock, 5);
    const watch = new EndpointWatch({ registry: this.registry, clock: systemClock, random: Math.random, log });
    this.#listener = new ClientListener({
      registry: this.registry,
      wheel,
      clock: systemClock,
      log,
      observer: {
        exchangeEnded: (exchange, end) => this.#ended(exchange, end),
        attemptEnded: (kind) => this.metrics.attemptEnded(kind),
        waited: (wait) => this.metrics.waited(wait),
        retried: (model) => this.metrics.retried(model),
      },
      decisions: this.decisions,
      tracer: this.tracer,
      bodyMemory: this.bodyMemory,
      listen: { host: "127.0.0.1", port: 0 },
      setting: "LLMGW_ROUTER_LISTEN",
    });
    this.registry.apply(config.table, config.settings);
    for (const part of [wheel, watch]) this.#running.push(part.run(this.#stop.signal).catch(() => undefined));
  }

  /** Starts with a router.yaml document and waits until every endpoint's first probe has an answer. */
  static async start(document: unknown): Promise<TestRouter> {
    const router = new TestRouter(document);
    router.port = (await router.#listener.listen()).port;
    await router.probed();
    return router;
  }

  /** Puts another document in force, as a reload does. */
  async reload(document: unknown): Promise<void> {
    this.#version += 1;
    const config = configOf(document, this.#version);
    this.registry.apply(config.table, config.settings);
    await this.probed();
  }

  async probed(): Promise<void> {
    await waitFor(() => this.registry.endpoints.every(({ probe }) => probe !== "unknown"));
  }

  endpoint(id: string): UpstreamEndpoint {
    const found = this.registry.endpoints.find(({ entry }) => entry.replica === id);
    if (found === undefined) throw new Error(`no endpoint ${id}`);
    return found;
  }

  client(): Promise<RawClient> {
    return RawClient.open(this.port);
  }

  /** Resolves once so many requests have ended. */
  async ended(count: number): Promise<void> {
    while (this.ends.length < count) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  drain(graceMs: number): Promise<void> {
    return this.#listener.drain(graceMs);
  }

  async stop(): Promise<void> {
    await this.#listener.drain(0);
    this.#stop.abort();
    await Promise.all(this.#running);
    await Promise.all(this.registry.endpoints.map((endpoint) => endpoint.destroy()));
  }

  #ended(exchange: Exchange, end: ExchangeEnd): void {
    this.metrics.exchangeEnded(exchange, end);
    this.tracer.exchangeEnded(exchange, end);
    this.ends.push({ ...end, attempts: exchange.attempts, hadFirstToken: exchange.firstTokenMs !== null });
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Turns the event loop until something holds; a test that waits in vain ends by its own time limit. */
export async function waitFor(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

function configOf(document: unknown, version: number) {
  const reading = readStaticConfig(document, version);
  if (reading.kind === "invalid") throw new Error(reading.problems.join("\n"));
  return reading.config;
}
