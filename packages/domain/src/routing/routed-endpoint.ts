import { nameHashOf } from "./affinity.ts";
import { Breaker, type BreakerPermit, type BreakerSettings, type BreakerState } from "./breaker.ts";
import { Ledger, type LedgerMark, type LedgerSlot } from "./ledger.ts";
import { RateWindow } from "./rate-window.ts";
import { type EndpointLoad, type EngineReading, fullness, type SaturationLimits } from "./saturation.ts";

/** `moving`: it has to go but still serves until its replacement does. `draining`: it finishes what it has. */
export type EndpointState = "serving" | "moving" | "draining";

/**
 * `ready`: its engine has answered a readiness probe. `unknown`: not probed yet, or it answers without naming the model.
 * `unready`: it has never answered one; it gets nothing.
 */
export type Readiness = "ready" | "unknown" | "unready";

/** Hard cap on requests in flight where a table gives none. */
export const DEFAULT_MAX_INFLIGHT = 256;

export interface RoutingSettings {
  readonly breaker: BreakerSettings;
  readonly saturation: SaturationLimits;
  readonly staleAfterMs: number;
  /** So long a new endpoint takes to get its full share; 0: at once. */
  readonly slowStartMs: number;
}

export interface EndpointFacts {
  /** The same on every router. */
  readonly name: string;
  readonly state: EndpointState;
  readonly maxInflight: number | null;
  readonly maxConcurrent: number | null;
  /** False for an engine that has nothing to scrape: it is then never stale, and its in-flight count is its load. */
  readonly hasMetrics: boolean;
}

/**
 * How a dispatched request ended. `backpressure`: the engine said "not now" (429, 503). A failure may carry `evidence`, a
 * hash of the request's body, when the request itself may be at fault (500).
 */
export type DispatchEnd =
  | { readonly kind: "success" }
  | { readonly kind: "failure"; readonly evidence: string | null }
  | { readonly kind: "backpressure"; readonly retryAfterMs: number }
  | { readonly kind: "neutral" };

/** One request on its way through an endpoint: its ledger slot and its breaker permit. Ends once; later ends do nothing. */
export interface Dispatch {
  end(end: DispatchEnd, nowMs: number): void;
}

interface Scrape {
  readonly reading: EngineReading;
  readonly mark: LedgerMark;
  readonly atMs: number;
}

const DRAIN_RATE_WINDOW_MS = 30_000;
const MAX_BACKPRESSURE_MS = 10_000;
/** A new endpoint gets this share at the least, so that it warms up at all. */
const LEAST_WEIGHT = 0.1;

/**
 * What a router knows of one endpoint, and all it needs to choose: in-flight ledger, breaker, last scrape, readiness.
 * One object per (replica, generation): a restarted engine starts with a clean sheet, and requests of the old one still
 * count on the old one.
 */
export class RoutedEndpoint {
  readonly nameHash: number;
  readonly #ledger = new Ledger();
  readonly #breaker: Breaker;
  readonly #completions = new RateWindow(DRAIN_RATE_WINDOW_MS);
  #settings: RoutingSettings;
  #facts: EndpointFacts;
  #scrape: Scrape | null = null;
  #backpressureUntilMs = Number.NEGATIVE_INFINITY;
  #completed = 0;
  #failed = 0;
  #readiness: Readiness = "unknown";
  /** Since when it is ready; null while it never was. */
  #readySinceMs: number | null = null;
  /** Told of each change of its breaker's state. */
  onBreaker: ((state: BreakerState) => void) | null = null;
  /** Told of each request that ends here, before anybody else acts on it. */
  onEnd: ((endpoint: this) => void) | null = null;

  constructor(facts: EndpointFacts, settings: RoutingSettings) {
    this.nameHash = nameHashOf(facts.name);
    this.#facts = facts;
    this.#settings = settings;
    this.#breaker = new Breaker(settings.breaker, (state) => this.onBreaker?.(state));
  }

  /** Takes over what a new table or new settings say; counts, breaker state and readings stay. */
  configure(facts: EndpointFacts, settings: RoutingSettings): void {
    this.#facts = facts;
    this.#settings = settings;
    this.#breaker.configure(settings.breaker);
  }

  get readiness(): Readiness {
    return this.#readiness;
  }

  setReadiness(readiness: Readiness, nowMs: number): void {
    this.#readiness = readiness;
    if (readiness === "ready") this.#readySinceMs ??= nowMs;
  }

  /** Grows from a tenth to 1 over the time of its slow start. */
  weight(nowMs: number): number {
    const { slowStartMs } = this.#settings;
    if (this.#readySinceMs === null) return 1; // none of its kind has a head start
    const ageMs = nowMs - this.#readySinceMs;
    return ageMs >= slowStartMs ? 1 : Math.max(LEAST_WEIGHT, ageMs / slowStartMs);
  }

  get state(): EndpointState {
    return this.#facts.state;
  }

  get inflight(): number {
    return this.#ledger.inflight;
  }

  get maxInflight(): number {
    return this.#facts.maxInflight ?? DEFAULT_MAX_INFLIGHT;
  }

  /** Requests that ended well, over its life. */
  get completed(): number {
    return this.#completed;
  }

  get failed(): number {
    return this.#failed;
  }

  /** Completions per second lately; null while none has been seen. */
  drainRate(nowMs: number): number | null {
    return this.#completions.perSecond(nowMs);
  }

  breakerState(nowMs: number): BreakerState {
    return this.#breaker.state(nowMs);
  }

  breakerWaitMs(nowMs: number): number {
    return this.#breaker.waitMs(nowMs);
  }

  admits(nowMs: number): boolean {
    return this.#breaker.admits(nowMs);
  }

  /** To be called when a scrape starts; its answer is then counted from that point. */
  markScrape(): LedgerMark {
    return this.#ledger.mark();
  }

  recordScrape(reading: EngineReading, mark: LedgerMark, atMs: number): void {
    this.#scrape = { reading, mark, atMs };
  }

  /** What the engine last said, also when that is stale. */
  get lastReading(): EngineReading | null {
    return this.#scrape?.reading ?? null;
  }

  isStale(nowMs: number): boolean {
    if (!this.#facts.hasMetrics) return false;
    return this.#scrape === null || nowMs - this.#scrape.atMs > this.#settings.staleAfterMs;
  }

  load(nowMs: number): EndpointLoad {
    const scrape = this.isStale(nowMs) ? null : this.#scrape;
    return {
      inflight: this.inflight,
      maxInflight: this.maxInflight,
      maxConcurrent: this.#facts.maxConcurrent,
      reading: scrape?.reading ?? null,
      sentSinceScrape: scrape === null ? 0 : this.#ledger.sentSince(scrape.mark),
      finishedSinceScrape: scrape === null ? 0 : this.#ledger.finishedSince(scrape.mark),
    };
  }

  /** Share of its limits that it is filled to; 1 is full. */
  fullness(nowMs: number): number {
    return fullness(this.load(nowMs), this.#settings.saturation);
  }

  isBelow(ceiling: number, nowMs: number): boolean {
    return this.fullness(nowMs) < ceiling;
  }

  /**
   * How busy it is, for comparing two: requests in it, the larger of what this router has in flight and what the engine
   * last said plus what changed since (never the sum, which would count ours twice). Recent failures and back-pressure
   * weigh like requests, so that an endpoint that fails fast does not look idle.
   */
  score(nowMs: number): number {
    const { reading, sentSinceScrape, finishedSinceScrape } = this.load(nowMs);
    const reported = (reading?.running ?? 0) + (reading?.waiting ?? 0) + sentSinceScrape - finishedSinceScrape;
    const pushedBack = nowMs < this.#backpressureUntilMs ? this.maxInflight : 0;
    return Math.max(this.inflight, reported) + this.#breaker.failureRun + pushedBack;
  }

  /** Takes a ledger slot and a breaker permit for one request; null when the breaker does not admit it. */
  begin(nowMs: number, probeTtlMs: number): Dispatch | null {
    const permit = this.#breaker.acquire(nowMs, probeTtlMs);
    return permit === null ? null : this.#dispatch(this.#ledger.acquire(), permit);
  }

  #dispatch(slot: LedgerSlot, permit: BreakerPermit): Dispatch {
    let ended = false;
    return {
      end: (end, nowMs) => {
        if (ended) return;
        ended = true;
        slot.release();
        this.#record(end, nowMs);
        permit.settle(end.kind === "backpressure" ? { kind: "neutral" } : end, nowMs);
        this.onEnd?.(this);
      },
    };
  }

  #record(end: DispatchEnd, nowMs: number): void {
    if (end.kind === "success") {
      this.#completed += 1;
      this.#completions.add(nowMs);
    } else if (end.kind === "failure") {
      this.#failed += 1;
    } else if (end.kind === "backpressure") {
      this.#backpressureUntilMs = nowMs + Math.min(MAX_BACKPRESSURE_MS, end.retryAfterMs);
    }
  }
}
