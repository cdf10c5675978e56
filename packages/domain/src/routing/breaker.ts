import { RateWindow } from "./rate-window.ts";

export interface BreakerSettings {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** Share of failures that opens it, once the window holds `ratioMinRequests`. */
  readonly ratio: number;
  readonly ratioMinRequests: number;
  readonly windowMs: number;
  /** First cooldown; the n-th opening in a row waits n times as long, up to `cooldownMaxMs`. */
  readonly cooldownMs: number;
  readonly cooldownMaxMs: number;
  /** Successes in half-open that close it. */
  readonly successes: number;
}

export const defaultBreakerSettings: BreakerSettings = {
  failures: 5,
  ratio: 0.5,
  ratioMinRequests: 20,
  windowMs: 30_000,
  cooldownMs: 5_000,
  cooldownMaxMs: 300_000,
  successes: 2,
};

export type BreakerState = "closed" | "open" | "half_open";

/**
 * How a request ended, as far as its endpoint's health goes. A failure with `evidence` (a hash of the request's body)
 * may be the request's own fault: a run of such failures opens the breaker only once it spans two different bodies.
 */
export type BreakerVerdict =
  | { readonly kind: "success" }
  | { readonly kind: "failure"; readonly evidence: string | null }
  | { readonly kind: "neutral" };

/** Leave to send one request. It is settled once; settling again does nothing. */
export interface BreakerPermit {
  settle(verdict: BreakerVerdict, nowMs: number): void;
}

/**
 * A circuit breaker: closed → open after failures, → half-open once the cooldown is over, → closed after successes.
 * In half-open exactly one request is out at a time; its permit comes back however that request ends, and lapses after
 * `probeTtlMs` if it never does. What was sent before an opening has no say in it any more.
 */
export class Breaker {
  readonly #onTransition: (state: BreakerState) => void;
  #settings: BreakerSettings;
  #state: BreakerState = "closed";
  /** Grows with each transition: permits of another epoch are stragglers and are not listened to. */
  #epoch = 0;
  #openUntilMs = 0;
  #openings = 0;
  #successes = 0;
  #probeUntilMs: number | null = null;
  #run: FailureRun = emptyRun;
  #requests: RateWindow;
  #failed: RateWindow;

  /** `onTransition` is told of each state that it enters. */
  constructor(settings: BreakerSettings, onTransition: (state: BreakerState) => void = () => undefined) {
    this.#settings = settings;
    this.#onTransition = onTransition;
    this.#requests = new RateWindow(settings.windowMs);
    this.#failed = new RateWindow(settings.windowMs);
  }

  /** Takes new settings; the state and the present run of failures stay. */
  configure(settings: BreakerSettings): void {
    if (settings.windowMs !== this.#settings.windowMs) {
      this.#requests = new RateWindow(settings.windowMs);
      this.#failed = new RateWindow(settings.windowMs);
    }
    this.#settings = settings;
  }

  /** `half_open` from the end of the cooldown on, also before the first probe. */
  state(nowMs: number): BreakerState {
    return this.#state === "open" && nowMs >= this.#openUntilMs ? "half_open" : this.#state;
  }

  /** Failures in a row up to now. */
  get failureRun(): number {
    return this.#run.length;
  }

  /** True if `acquire` would give a permit now. */
  admits(nowMs: number): boolean {
    if (this.#state === "closed") return true;
    if (this.#state === "open") return nowMs >= this.#openUntilMs;
    return this.#probeUntilMs === null || nowMs >= this.#probeUntilMs;
  }

  /** How long until it may admit again: the rest of the cooldown, or of the probe that is out; 0 if it admits now. */
  waitMs(nowMs: number): number {
    if (this.admits(nowMs)) return 0;
    return (this.#state === "open" ? this.#openUntilMs : (this.#probeUntilMs ?? nowMs)) - nowMs;
  }

  /** Leave to send one request, or null where `admits` is false. */
  acquire(nowMs: number, probeTtlMs: number): BreakerPermit | null {
    if (!this.admits(nowMs)) return null;
    if (this.#state === "open") this.#enter("half_open");
    if (this.#state === "half_open") this.#probeUntilMs = nowMs + probeTtlMs;
    const epoch = this.#epoch;
    const probeUntilMs = this.#probeUntilMs;
    let settled = false;
    return {
      settle: (verdict, atMs) => {
        if (settled) return;
        settled = true;
        if (epoch !== this.#epoch) return;
        if (this.#state === "half_open") {
          if (this.#probeUntilMs !== probeUntilMs) return; // it lapsed and another probe has taken its place
          this.#probeUntilMs = null;
          this.#settleProbe(verdict, atMs);
        } else {
          this.#settleClosed(verdict, atMs);
        }
      },
    };
  }

  #settleProbe(verdict: BreakerVerdict, nowMs: number): void {
    if (verdict.kind === "neutral") return;
    if (verdict.kind === "failure") {
      this.#open(nowMs);
      return;
    }
    this.#successes += 1;
    if (this.#successes < this.#settings.successes) return;
    this.#openings = 0;
    this.#enter("closed");
  }

  #settleClosed(verdict: BreakerVerdict, nowMs: number): void {
    if (verdict.kind === "neutral") return;
    this.#requests.add(nowMs);
    if (verdict.kind === "success") {
      this.#run = emptyRun;
      return;
    }
    const repeats = verdict.evidence !== null && verdict.evidence === this.#run.evidence;
    this.#run = extended(this.#run, verdict.evidence);
    if (!repeats) this.#failed.add(nowMs); // one bad request sent again and again is one failure
    const { failures, ratio, ratioMinRequests } = this.#settings;
    const inARow = this.#run.length >= failures && this.#run.isConvincing;
    const requests = this.#requests.total(nowMs);
    const tooMany = requests >= ratioMinRequests && this.#failed.total(nowMs) >= ratio * requests;
    if (inARow || tooMany) this.#open(nowMs);
  }

  #open(nowMs: number): void {
    this.#openings += 1;
    this.#openUntilMs = nowMs + Math.min(this.#settings.cooldownMaxMs, this.#settings.cooldownMs * this.#openings);
    this.#enter("open");
  }

  #enter(state: BreakerState): void {
    this.#state = state;
    this.#epoch += 1;
    this.#successes = 0;
    this.#probeUntilMs = null;
    this.#run = emptyRun;
    this.#requests.clear();
    this.#failed.clear();
    this.#onTransition(state);
  }
}

interface FailureRun {
  readonly length: number;
  /** Evidence of the run's first failure. */
  readonly evidence: string | null;
  /** False while every failure of the run came with the same evidence. */
  readonly isConvincing: boolean;
}

const emptyRun: FailureRun = { length: 0, evidence: null, isConvincing: false };

function extended(run: FailureRun, evidence: string | null): FailureRun {
  if (run.length === 0) return { length: 1, evidence, isConvincing: evidence === null };
  const isConvincing = run.isConvincing || evidence === null || evidence !== run.evidence;
  return { length: run.length + 1, evidence: run.evidence, isConvincing };
}
