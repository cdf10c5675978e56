import { modelSaturation } from "@llmgw/domain";
import type { Clock } from "@llmgw/service";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry as MetricsRegistry } from "prom-client";
import type { Exchange, ExchangeEnd } from "../http/exchange.ts";
import type { QueueWait, TrafficObserver } from "../http/gateway.ts";
import type { Registry } from "../registry/registry.ts";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";

const DURATION_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800];
const FIRST_TOKEN_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const TOKEN_GAP_BUCKETS = [0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5];
const WAIT_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const OVERHEAD_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1];

/** Label for a request whose model is not known here: a client's word never becomes a label. */
const UNKNOWN = "unknown";

/** The metrics of a router. Gauges of endpoints, queues and models are read from the registry when somebody asks. */
export class RouterMetrics implements TrafficObserver {
  readonly registry = new MetricsRegistry();
  readonly #clock: Clock;
  readonly #requests: Counter<"model" | "outcome" | "code" | "band">;
  readonly #duration: Histogram<"model">;
  readonly #firstToken: Histogram<"model">;
  readonly #tokenGap: Histogram<"model">;
  readonly #tokens: Counter<"model" | "kind">;
  readonly #queueWait: Histogram<"band" | "outcome">;
  readonly #overhead: Histogram;
  readonly #attempts: Counter<"outcome">;
  readonly #retries: Counter<"model">;
  readonly #transitions: Counter<"replica" | "state">;

  constructor(source: Registry, clock: Clock) {
    this.#clock = clock;
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Counter({
      name: "llmgw_requests_total",
      help: "Client requests by how they ended; each counts once.",
      labelNames: ["model", "outcome", "code", "band"],
      registers,
    });
    this.#duration = new Histogram({
      name: "llmgw_request_duration_seconds",
      help: "Time from a request's head to the end of its answer.",
      labelNames: ["model"],
      buckets: DURATION_BUCKETS,
      registers,
    });
    this.#firstToken = new Histogram({
      name: "llmgw_time_to_first_token_seconds",
      help: "Time from a request's head to the first content event of its stream.",
      labelNames: ["model"],
      buckets: FIRST_TOKEN_BUCKETS,
      registers,
    });
    this.#attempts = new Counter({
      name: "llmgw_attempts_total",
      help: "Attempts on engines by how they ended, as the breaker sees it.",
      labelNames: ["outcome"],
      registers,
    });
    this.#tokenGap = new Histogram({
      name: "llmgw_inter_token_seconds",
      help: "Mean time between the content events of a stream, one observation a stream.",
      labelNames: ["model"],
      buckets: TOKEN_GAP_BUCKETS,
      registers,
    });
    this.#tokens = new Counter({
      name: "llmgw_tokens_total",
      help: "Tokens as engines tell them; of answers without usage, content events (kind completion).",
      labelNames: ["model", "kind"],
      registers,
    });
    this.#queueWait = new Histogram({
      name: "llmgw_queue_wait_seconds",
      help: "Time that requests waited in the router for a place, by whether they got one.",
      labelNames: ["band", "outcome"],
      buckets: WAIT_BUCKETS,
      registers,
    });
    this.#overhead = new Histogram({
      name: "llmgw_router_overhead_seconds",
      help: "Time in the router's own code between a request's whole body and its first dispatch, waits excluded.",
      buckets: OVERHEAD_BUCKETS,
      registers,
    });
    this.#retries = new Counter({
      name: "llmgw_retries_total",
      help: "Attempts after the first one of a request.",
      labelNames: ["model"],
      registers,
    });
    this.#transitions = new Counter({
      name: "llmgw_breaker_transitions_total",
      help: "Changes of an endpoint's breaker, by the state it entered.",
      labelNames: ["replica", "state"],
      registers,
    });
    this.#collectEndpoints(source);
    this.#collectModels(source);
    source.onChange(({ removed, removedModels }) => {
      for (const model of removedModels) void this.#forget(model);
      for (const { entry } of removed) void forgetSeries(this.#transitions, "replica", entry.replica);
    });
    source.onBreaker(({ entry }, state) => this.#transitions.inc({ replica: entry.replica, state }));
  }

  exchangeEnded(exchange: Exchange, { outcome, status }: ExchangeEnd): void {
    const model = exchange.modelId ?? UNKNOWN;
    this.#requests.inc({ model, outcome, code: String(status), band: exchange.band ?? "none" });
    if (exchange.modelId === null) return;
    this.#duration.observe({ model }, (this.#clock.monotonicMs() - exchange.startMs) / 1_000);
    this.#countTokens(exchange, model);
    if (exchange.overheadMs !== null) this.#overhead.observe(exchange.overheadMs / 1_000);
    if (exchange.firstTokenMs === null) return;
    this.#firstToken.observe({ model }, (exchange.firstTokenMs - exchange.startMs) / 1_000);
    const gaps = exchange.contentEvents - 1;
    if (exchange.lastTokenMs === null || gaps < 1) return;
    this.#tokenGap.observe({ model }, (exchange.lastTokenMs - exchange.firstTokenMs) / gaps / 1_000);
  }

  waited({ band, waitedMs, outcome }: QueueWait): void {
    this.#queueWait.observe({ band: band ?? "none", outcome }, waitedMs / 1_000);
  }

  retried(model: string): void {
    this.#retries.inc({ model });
  }

  #countTokens({ usage, contentEvents }: Exchange, model: string): void {
    const count = (kind: string, tokens: number) => {
      if (tokens > 0) this.#tokens.inc({ model, kind }, tokens);
    };
    count("completion", usage?.completionTokens ?? contentEvents);
    count("prompt", usage?.promptTokens ?? 0);
    count("cached", usage?.cachedTokens ?? 0);
  }

  attemptEnded(kind: string): void {
    this.#attempts.inc({ outcome: kind });
  }

  #collectEndpoints(source: Registry): void {
    const gauge = (name: string, help: string, read: (endpoint: UpstreamEndpoint, nowMs: number) => number | null) => {
      const clock = this.#clock;
      new Gauge({
        name,
        help,
        aggregator: isOwnCount(name) ? "sum" : "max",
        labelNames: ["replica", "pool"],
        registers: [this.registry],
        collect() {
          this.reset(); // series of removed replicas go with it
          const nowMs = clock.monotonicMs();
          for (const endpoint of source.endpoints) {
            const value = read(endpoint, nowMs);
            const { replica, pool } = endpoint.entry;
            if (value !== null) this.set({ replica, pool: pool === "" ? "none" : pool }, value);
          }
        },
      });
    };
    gauge("llmgw_endpoint_inflight", "Requests dispatched to the endpoint and not finished.", (e) => e.inflight);
    gauge(
      "llmgw_endpoint_waiting",
      "Requests waiting in the engine, as last scraped.",
      (e) => e.lastReading?.waiting ?? null,
    );
    gauge(
      "llmgw_endpoint_running",
      "Requests running in the engine, as last scraped.",
      (e) => e.lastReading?.running ?? null,
    );
    gauge(
      "llmgw_endpoint_kv_cache_usage",
      "Share of the engine's KV cache in use (0 to 1), as last scraped.",
      (e) => e.lastReading?.kvUsageRatio ?? null,
    );
    gauge("llmgw_endpoint_drain_rate", "Observed completions per second.", (e, nowMs) => e.drainRate(nowMs) ?? 0);
    gauge("llmgw_endpoint_metrics_stale", "1 while the endpoint's scraped numbers are too old to use.", (e, nowMs) =>
      e.isStale(nowMs) ? 1 : 0,
    );
    gauge("llmgw_endpoint_breaker_open", "1 while the endpoint's breaker is open or half-open.", (e, nowMs) =>
      e.breakerState(nowMs) === "closed" ? 0 : 1,
    );
  }

  #collectModels(source: Registry): void {
    const registers = [this.registry];
    const clock = this.#clock;
    new Gauge({
      name: "llmgw_admission_queue_depth",
      help: "Requests that wait in the router for a place, by band.",
      labelNames: ["band"],
      registers,
      collect() {
        const models = source.models;
        this.reset();
        source.settings.admission.bands.forEach((band, rank) => {
          this.set(
            { band },
            models.reduce((sum, model) => sum + model.depth(rank), 0),
          );
        });
      },
    });
    new Gauge({
      name: "llmgw_pool_saturation",
      aggregator: "average",
      help: "How full the endpoints of a model are on the mean; 1 is the healthy limit.",
      labelNames: ["model"],
      registers,
      collect() {
        this.reset();
        const nowMs = clock.monotonicMs();
        for (const model of source.models) {
          const loads = model.routable.map((endpoint) => endpoint.load(nowMs));
          this.set({ model: model.id }, modelSaturation(loads, source.settings.saturation));
        }
      },
    });
  }

  /** A model that is no more takes its series with it. */
  async #forget(model: string): Promise<void> {
    for (const histogram of [this.#duration, this.#firstToken, this.#tokenGap]) histogram.remove({ model });
    await forgetSeries(this.#requests, "model", model);
    await forgetSeries(this.#tokens, "model", model);
    this.#retries.remove({ model });
  }
}

/** Of several workers, what each counts by itself adds up; what an engine said, each has heard for itself. */
function isOwnCount(name: string): boolean {
  return name === "llmgw_endpoint_inflight" || name === "llmgw_endpoint_drain_rate";
}

async function forgetSeries<L extends string>(counter: Counter<L>, label: L, value: string): Promise<void> {
  const { values } = await counter.get();
  for (const { labels } of values) if (labels[label] === value) counter.remove(labels);
}
