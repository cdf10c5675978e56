import { type BreakerState, KeyMeter } from "@llmgw/domain";
import type { Clock, Logger } from "@llmgw/service";
import type { EndpointEntry, EndpointTable, KeyEntry } from "@llmgw/wire";
import { endpointKey, UpstreamEndpoint } from "../upstream/upstream-endpoint.ts";
import { ModelRoute, type RouteClock } from "./model-route.ts";
import type { RouterSettings } from "./settings.ts";

/** A key as requests meet it. */
export interface InferenceKey {
  readonly id: string;
  readonly isRevoked: boolean;
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAtMs: number | null;
  /** Null: every model. */
  readonly models: ReadonlySet<string> | null;
  /** Rank of the highest band of its requests; 0 goes first. */
  readonly maxRank: number;
  readonly mayExplain: boolean;
  /** What it has used lately, over all tables. */
  readonly meter: KeyMeter;
}

export interface RegistryOptions {
  readonly settings: RouterSettings;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/** What changed with a table; told after it is in force. */
export interface RegistryChange {
  readonly added: readonly UpstreamEndpoint[];
  readonly removed: readonly UpstreamEndpoint[];
  readonly removedModels: readonly string[];
}

/**
 * Everything a router serves from: the last table as live objects. A new table is laid over it; endpoints that stay keep
 * their counts, and one that is gone is let go of while requests on it go on to their end.
 */
export class Registry {
  readonly #clock: Clock;
  readonly #routeClock: RouteClock;
  readonly #log: Logger;
  readonly #listeners: ((change: RegistryChange) => void)[] = [];
  readonly #breakerListeners: ((endpoint: UpstreamEndpoint, state: BreakerState) => void)[] = [];
  #settings: RouterSettings;
  #table: EndpointTable | null = null;
  #routes = new Map<string, ModelRoute>();
  #names = new Map<string, ModelRoute>();
  #endpoints = new Map<string, UpstreamEndpoint>();
  #keys = new Map<string, InferenceKey>();
  /** By key id: a key's meter outlives its entry, so that a new table forgets nothing. */
  #meters = new Map<string, KeyMeter>();
  /** Until when its keys may be believed, milliseconds since the epoch. */
  keysValidUntilMs = Number.POSITIVE_INFINITY;

  constructor({ settings, clock, random, log }: RegistryOptions) {
    this.#settings = settings;
    this.#clock = clock;
    this.#routeClock = { nowMs: () => clock.monotonicMs(), random };
    this.#log = log;
  }

  get settings(): RouterSettings {
    return this.#settings;
  }

  /** The table in force; null before the first. */
  get table(): EndpointTable | null {
    return this.#table;
  }

  get models(): readonly ModelRoute[] {
    return [...this.#routes.values()];
  }

  get endpoints(): readonly UpstreamEndpoint[] {
    return [...this.#endpoints.values()];
  }

  /** The model with this id or alias. */
  model(name: string): ModelRoute | undefined {
    return this.#names.get(name);
  }

  key(sha256: string): InferenceKey | undefined {
    return this.#keys.get(sha256);
  }

  onChange(listener: (change: RegistryChange) => void): void {
    this.#listeners.push(listener);
  }

  /** `listener` is told of each change of an endpoint's breaker. */
  onBreaker(listener: (endpoint: UpstreamEndpoint, state: BreakerState) => void): void {
    this.#breakerListeners.push(listener);
  }

  apply(table: EndpointTable, settings: RouterSettings = this.#settings): void {
    this.#settings = settings;
    this.#table = table;
    this.#takeKeys(table, settings);
    const before = { endpoints: this.#endpoints, routes: this.#routes };
    this.#endpoints = new Map();
    this.#routes = new Map();
    const added: UpstreamEndpoint[] = [];
    const updates: (() => void)[] = [];
    for (const entry of table.models) {
      const endpoints = entry.endpoints.map((endpoint) => {
        const key = `${entry.id} ${endpointKey(endpoint)}`;
        const known = before.endpoints.get(key);
        known?.update(endpoint, settings);
        const current = known ?? this.#newEndpoint(endpoint, settings);
        if (known === undefined) added.push(current);
        this.#endpoints.set(key, current);
        return current;
      });
      const createdSeconds = Math.floor(this.#clock.nowMs() / 1_000);
      const route =
        before.routes.get(entry.id) ?? new ModelRoute({ entry, settings, clock: this.#routeClock, createdSeconds });
      this.#routes.set(entry.id, route);
      updates.push(() => route.update(entry, endpoints, settings));
    }
    this.#names = namesOf(this.#routes, table);
    for (const update of updates) update();
    this.#letGo(before, added);
  }

  /** Gives waiting requests another look: a cooldown may be over, a scrape may have shown room. */
  pump(): void {
    for (const route of this.#routes.values()) route.pump();
  }

  /** Takes this router's part of the keys' limits, which so many routers share. */
  shareKeyLimits(routers: number): void {
    if (this.#table === null || this.#table.routers === routers) return;
    this.#table = { ...this.#table, routers };
    this.#takeKeys(this.#table, this.#settings);
  }

  #takeKeys({ keys, routers }: EndpointTable, { admission: { bands } }: RouterSettings): void {
    const meters = new Map<string, KeyMeter>();
    this.#keys = new Map();
    for (const entry of keys) {
      const meter = this.#meters.get(entry.id) ?? new KeyMeter();
      meter.configure(entry.limits, routers);
      meters.set(entry.id, meter);
      this.#keys.set(entry.sha256, inferenceKey(entry, meter, bands));
    }
    this.#meters = meters;
  }

  #newEndpoint(entry: EndpointEntry, settings: RouterSettings): UpstreamEndpoint {
    const endpoint = new UpstreamEndpoint(entry, settings);
    endpoint.onBreaker = (state) => {
      for (const listener of this.#breakerListeners) listener(endpoint, state);
    };
    return endpoint;
  }

  #letGo(
    before: { endpoints: ReadonlyMap<string, UpstreamEndpoint>; routes: ReadonlyMap<string, ModelRoute> },
    added: readonly UpstreamEndpoint[],
  ): void {
    const removed = [...before.endpoints].flatMap(([key, endpoint]) => (this.#endpoints.has(key) ? [] : [endpoint]));
    const removedModels: string[] = [];
    for (const [id, route] of before.routes) {
      if (this.#routes.has(id)) continue;
      removedModels.push(id);
      route.remove();
    }
    for (const endpoint of removed) {
      endpoint.close().catch((error: unknown) => {
        this.#log.warn({ error, replica: endpoint.entry.replica }, "sockets of a removed endpoint did not close well");
      });
    }
    for (const listener of this.#listeners) listener({ added, removed, removedModels });
  }
}

function namesOf(routes: ReadonlyMap<string, ModelRoute>, table: EndpointTable): Map<string, ModelRoute> {
  const names = new Map<string, ModelRoute>();
  for (const { id, aliases } of table.models) {
    const route = routes.get(id);
    if (route === undefined) continue;
    for (const alias of aliases) if (!names.has(alias)) names.set(alias, route);
  }
  for (const [id, route] of routes) names.set(id, route); // a model's own id wins over another one's alias
  return names;
}

function inferenceKey(entry: KeyEntry, meter: KeyMeter, bands: readonly string[]): InferenceKey {
  const { id, revoked, expiresAt, models, maxBand, mayExplain } = entry;
  const rank = bands.indexOf(maxBand);
  return {
    id,
    isRevoked: revoked,
    expiresAtMs: expiresAt === null ? null : Date.parse(expiresAt),
    models: models.includes("*") ? null : new Set(models),
    maxRank: rank === -1 ? bands.length - 1 : rank, // a band that is not known here goes last
    mayExplain,
    meter,
  };
}
