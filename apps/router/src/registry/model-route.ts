import { BandQueues, type Choice, chooseEndpoint, type Dispatch, type Place, RetryBudget } from "@llmgw/domain";
import { bands, type ModelEntry } from "@llmgw/wire";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";
import type { RouterSettings } from "./settings.ts";

/** A place in an endpoint, taken for one request. */
export interface Grant {
  readonly endpoint: UpstreamEndpoint;
  readonly dispatch: Dispatch;
}

export type Refusal = { readonly kind: "none"; readonly breakerWaitMs: number | null } | { readonly kind: "removed" };

/** A request that waits for a place. Exactly one of the two is called, once, unless it leaves before. */
export interface Waiter {
  readonly tried: readonly UpstreamEndpoint[];
  grant(grant: Grant): void;
  refuse(refusal: Refusal): void;
}

export type TakeResult =
  | { readonly kind: "granted"; readonly grant: Grant }
  | Exclude<Choice<never>, { endpoint: never }>;

export interface RouteClock {
  readonly nowMs: () => number;
  readonly random: () => number;
}

/** One model: its endpoints, and the requests that wait for them. A full or empty model never delays another one. */
export class ModelRoute {
  readonly #clock: RouteClock;
  readonly #queues = new BandQueues<Waiter>(bands.length);
  readonly retryBudget = new RetryBudget();
  /** When this router first heard of the model, seconds since the epoch. */
  readonly createdSeconds: number;
  #entry: ModelEntry;
  #settings: RouterSettings;
  #timeouts: RouterSettings["timeouts"];
  #endpoints: readonly UpstreamEndpoint[] = [];
  #groups: { serving: readonly UpstreamEndpoint[]; moving: readonly UpstreamEndpoint[] } = { serving: [], moving: [] };
  #turn = 0;

  constructor(options: { entry: ModelEntry; settings: RouterSettings; clock: RouteClock; createdSeconds: number }) {
    this.#entry = options.entry;
    this.#settings = options.settings;
    this.#timeouts = timeoutsOf(options.entry, options.settings);
    this.#clock = options.clock;
    this.createdSeconds = options.createdSeconds;
  }

  get entry(): ModelEntry {
    return this.#entry;
  }

  get id(): string {
    return this.#entry.id;
  }

  /** Every endpoint of the table, draining ones too. */
  get endpoints(): readonly UpstreamEndpoint[] {
    return this.#endpoints;
  }

  /** Those that may be sent to: serving and moving ones. */
  get routable(): readonly UpstreamEndpoint[] {
    return [...this.#groups.serving, ...this.#groups.moving];
  }

  get queued(): number {
    return this.#queues.size;
  }

  depth(rank: number): number {
    return this.#queues.depth(rank);
  }

  update(entry: ModelEntry, endpoints: readonly UpstreamEndpoint[], settings: RouterSettings): void {
    this.#entry = entry;
    this.#settings = settings;
    this.#timeouts = timeoutsOf(entry, settings);
    this.#endpoints = endpoints;
    this.#groups = {
      serving: endpoints.filter(({ state }) => state === "serving"),
      moving: endpoints.filter(({ state }) => state === "moving"),
    };
    this.pump();
  }

  /** The model's own limit where it has one, else the router's. */
  get timeouts(): RouterSettings["timeouts"] {
    return this.#timeouts;
  }

  /** Takes a place at once if there is one and nobody waits for it. */
  take(tried: readonly UpstreamEndpoint[]): TakeResult {
    if (this.#queues.size > 0 && tried.length === 0) return { kind: "saturated" };
    return this.#choose(tried);
  }

  /** Joins the queue of a band; null when it is full. A retry goes to the front: it has waited before. */
  join(waiter: Waiter, { rank, bytes }: { rank: number; bytes: number }): Place<Waiter> | null {
    const { maxQueuedRequests, maxQueuedBytes } = this.#settings.admission;
    return this.#queues.join(waiter, {
      rank,
      bytes,
      limits: { maxRequests: maxQueuedRequests, maxBytes: maxQueuedBytes },
      atFront: waiter.tried.length > 0,
    });
  }

  leave(place: Place<Waiter>): boolean {
    return this.#queues.leave(place);
  }

  /** Sends on whoever can go, in order. To be called whenever a place may have come free. */
  pump(): void {
    if (this.#queues.size === 0) return;
    this.#queues.dispatch((waiter) => {
      const taken = this.#choose(waiter.tried);
      if (taken.kind === "granted") waiter.grant(taken.grant);
      else if (taken.kind === "none") waiter.refuse(taken);
      // One that was tried elsewhere has fewer endpoints to go to than those behind it: it does not hold them up.
      else return waiter.tried.length > 0 ? "held" : "stop";
      return "placed";
    });
  }

  /** Sends every waiter away: the model is gone. */
  remove(): void {
    this.#endpoints = [];
    this.#groups = { serving: [], moving: [] };
    this.#queues.dispatch((waiter) => {
      waiter.refuse({ kind: "removed" });
      return "placed";
    });
  }

  /** Completions per second over all endpoints; null while none has been seen. */
  drainRate(): number | null {
    const nowMs = this.#clock.nowMs();
    const rates = this.routable.flatMap((endpoint) => endpoint.drainRate(nowMs) ?? []);
    return rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0);
  }

  #choose(tried: readonly UpstreamEndpoint[]): TakeResult {
    const nowMs = this.#clock.nowMs();
    this.#turn += 1;
    const choice = chooseEndpoint({
      groups: this.#groups,
      policy: this.#entry.policy,
      tried,
      nowMs,
      random: this.#clock.random,
      turn: this.#turn,
    });
    if (choice.kind !== "endpoint") return choice;
    const dispatch = choice.endpoint.begin(nowMs, this.timeouts.firstByteMs);
    if (dispatch === null) throw new Error(`endpoint ${choice.endpoint.entry.replica} was chosen and did not admit`);
    return { kind: "granted", grant: { endpoint: choice.endpoint, dispatch } };
  }
}

function timeoutsOf({ timeouts }: ModelEntry, { timeouts: defaults }: RouterSettings): RouterSettings["timeouts"] {
  const { firstByteMs, idleMs, progressMs } = timeouts;
  return {
    ...defaults,
    firstByteMs: firstByteMs ?? defaults.firstByteMs,
    firstByteNonStreamMs: firstByteMs ?? defaults.firstByteNonStreamMs,
    idleMs: idleMs ?? defaults.idleMs,
    progressMs: progressMs ?? defaults.progressMs,
  };
}
