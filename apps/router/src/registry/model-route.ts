import {
  AdmissionGate,
  type AffinityKeys,
  AffinityTable,
  type Choice,
  chooseEndpoint,
  type Dispatch,
  type GateSettings,
  type Place,
  RetryBudget,
} from "@llmgw/domain";
import type { ModelEntry } from "@llmgw/wire";
import type { UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";
import type { RouterSettings } from "./settings.ts";

/** A place in an endpoint, taken for one request. */
export interface Grant {
  readonly endpoint: UpstreamEndpoint;
  readonly dispatch: Dispatch;
}

export type Refusal = { readonly kind: "none"; readonly breakerWaitMs: number | null } | { readonly kind: "removed" };

/** What a request asks of its model's gate. */
export interface Ask {
  /** Rank of its band; 0 goes first. */
  readonly rank: number;
  /** Whose it is: keys take turns. */
  readonly keyId: string;
  /** Endpoints it has been sent to already. */
  readonly tried: readonly UpstreamEndpoint[];
  /** What ties it to earlier requests. */
  readonly affinity: AffinityKeys;
  /** Told of the choice that was made for it, with the endpoints as they were then. */
  readonly onChoice: ((choice: Choice<UpstreamEndpoint>, ceiling: number) => void) | null;
}

/** A request that waits for a place. Exactly one of the two is called, once, unless it leaves before. */
export interface Waiter {
  readonly ask: Ask;
  readonly sinceMs: number;
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

/** Prompts and sessions that a model's affinity remembers; about 3 MiB when it is full. */
const AFFINITY_ENTRIES = 32_768;

/** One model: its endpoints, and the requests that wait for them. A full or empty model never delays another one. */
export class ModelRoute {
  readonly #clock: RouteClock;
  readonly #gate: AdmissionGate<Waiter>;
  readonly #affinity = new AffinityTable<UpstreamEndpoint>(AFFINITY_ENTRIES);
  readonly retryBudget = new RetryBudget();
  /** When this router first heard of the model, seconds since the epoch. */
  readonly createdSeconds: number;
  #entry: ModelEntry;
  #settings: RouterSettings;
  #timeouts: RouterSettings["timeouts"];
  #endpoints: readonly UpstreamEndpoint[] = [];
  #groups: { serving: readonly UpstreamEndpoint[]; moving: readonly UpstreamEndpoint[] } = { serving: [], moving: [] };
  #turn = 0;
  /** The endpoint that a request has just left, while the others are known to be full. */
  #freed: UpstreamEndpoint | null = null;
  /** Since when nothing serves it; null while something does. */
  #noEndpointSinceMs: number | null = null;

  constructor(options: { entry: ModelEntry; settings: RouterSettings; clock: RouteClock; createdSeconds: number }) {
    this.#entry = options.entry;
    this.#settings = options.settings;
    this.#timeouts = timeoutsOf(options.entry, options.settings);
    this.#clock = options.clock;
    this.#gate = new AdmissionGate(gateSettings(options.settings));
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
    return this.#gate.size;
  }

  depth(rank: number): number {
    return this.#gate.depth(rank);
  }

  /** Requests that go before a new one of this band. */
  ahead(rank: number): number {
    return this.#gate.ahead(rank);
  }

  update(entry: ModelEntry, endpoints: readonly UpstreamEndpoint[], settings: RouterSettings): void {
    this.#entry = entry;
    this.#settings = settings;
    this.#timeouts = timeoutsOf(entry, settings);
    this.#gate.configure(gateSettings(settings));
    this.#endpoints = endpoints;
    this.#groups = {
      serving: endpoints.filter(({ state }) => state === "serving"),
      moving: endpoints.filter(({ state }) => state === "moving"),
    };
    for (const endpoint of endpoints) endpoint.onEnd = this.#onEnd;
    this.#affinity.retain((endpoint) => endpoints.includes(endpoint));
    this.pump();
  }

  /** The model's own limit where it has one, else the router's. */
  get timeouts(): RouterSettings["timeouts"] {
    return this.#timeouts;
  }

  /** Takes a place at once if there is one and nobody goes before it. */
  take(ask: Ask): TakeResult {
    if (ask.tried.length === 0 && !this.#gate.isClearFor(ask.rank)) return { kind: "saturated" };
    const taken = this.#choose(ask, this.#gate.ceiling(ask.rank));
    if (taken.kind === "granted" && this.#gate.passed(ask.rank)) this.pump();
    return taken;
  }

  /** Joins the queue of its band; null when that is full. A retry goes ahead of it: it has waited before. */
  join(waiter: Waiter, bytes: number): Place<Waiter> | null {
    const { rank, keyId, tried } = waiter.ask;
    return this.#gate.join(waiter, {
      rank,
      owner: keyId,
      bytes,
      nowMs: waiter.sinceMs,
      isRetry: tried.length > 0,
    });
  }

  leave(place: Place<Waiter>): boolean {
    return this.#gate.leave(place);
  }

  /** Sends on whoever can go, in order. To be called whenever a place may have come free. */
  pump(): void {
    if (this.#gate.size > 0) {
      const nowMs = this.#clock.nowMs();
      this.#gate.dispatch(nowMs, (waiter, ceiling) => {
        const taken = this.#choose(waiter.ask, ceiling);
        if (taken.kind === "saturated") return "held";
        if (taken.kind === "none" && this.noEndpointWaitLeftMs(waiter, nowMs) > 0) return "held";
        if (taken.kind === "granted") waiter.grant(taken.grant);
        else waiter.refuse(taken);
        return taken.kind === "granted" ? "sent" : "dropped";
      });
    }
    this.#freed = null;
  }

  /** Since when nothing serves it, monotonic ms; null while something does. */
  get noEndpointSinceMs(): number | null {
    return this.#noEndpointSinceMs;
  }

  /** How long a request may go on waiting for an endpoint to appear; a retry does not. */
  noEndpointWaitLeftMs({ ask, sinceMs }: Pick<Waiter, "ask" | "sinceMs">, nowMs: number): number {
    if (ask.tried.length > 0) return 0;
    const startMs = Math.max(sinceMs, this.#noEndpointSinceMs ?? nowMs);
    return startMs + this.#settings.admission.noEndpointWaitMs - nowMs;
  }

  /** Sends every waiter away: the model is gone. */
  remove(): void {
    this.#endpoints = [];
    this.#groups = { serving: [], moving: [] };
    this.#gate.dispatch(this.#clock.nowMs(), (waiter) => {
      waiter.refuse({ kind: "removed" });
      return "dropped";
    });
  }

  /** Completions per second over all endpoints; null while none has been seen. */
  drainRate(): number | null {
    const nowMs = this.#clock.nowMs();
    const rates = this.routable.flatMap((endpoint) => endpoint.drainRate(nowMs) ?? []);
    return rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0);
  }

  get #waitsForEndpoints(): boolean {
    return this.#settings.admission.noEndpointWaitMs > 0;
  }

  readonly #onEnd = (endpoint: UpstreamEndpoint): void => {
    if (this.#gate.size > 0) this.#freed = endpoint;
  };

  #choose(ask: Ask, ceiling: number): TakeResult {
    const nowMs = this.#clock.nowMs();
    this.#turn += 1;
    const choice = chooseEndpoint({
      groups: this.#groups,
      policy: this.#entry.policy,
      tried: ask.tried,
      ceiling,
      nowMs,
      random: this.#clock.random,
      turn: this.#turn,
      keys: ask.affinity,
      table: this.#affinity,
      freed: this.#freed,
    });
    if (ask.tried.length === 0)
      this.#noEndpointSinceMs = choice.kind === "none" ? (this.#noEndpointSinceMs ?? nowMs) : null;
    const isFinal = choice.kind === "endpoint" || (choice.kind === "none" && !this.#waitsForEndpoints);
    if (isFinal) ask.onChoice?.(choice, ceiling);
    if (choice.kind !== "endpoint") return choice;
    const dispatch = choice.endpoint.begin(nowMs, this.timeouts.firstByteMs);
    if (dispatch === null) throw new Error(`endpoint ${choice.endpoint.entry.replica} was chosen and did not admit`);
    return { kind: "granted", grant: { endpoint: choice.endpoint, dispatch } };
  }
}

function gateSettings({ admission }: RouterSettings): GateSettings {
  const { ceilings, lowBandShare, maxQueuedRequests, maxQueuedBytes, waitBudgetMs } = admission;
  return {
    ceilings,
    lowBandShare,
    maxRequests: maxQueuedRequests,
    maxBytes: maxQueuedBytes,
    promoteAfterMs: waitBudgetMs / 2,
  };
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
