import { FairQueue, type QueueNode } from "./fair-queue.ts";

/** How a model's gate lets requests through. Bands are ranks: 0 goes first. */
export interface GateSettings {
  /** Per band: up to which share of an endpoint's limits its requests may fill it; 1 for the first, none rising. */
  readonly ceilings: readonly number[];
  /** Share of dispatches that the bands after the first get for certain while they wait, 0..1. */
  readonly lowBandShare: number;
  /** Per band. */
  readonly maxRequests: number;
  /** Per band: bytes of request bodies that wait. */
  readonly maxBytes: number;
  /** A request that has waited so long is not held back by its band's ceiling any more. */
  readonly promoteAfterMs: number;
}

/** A waiting item's place. It stays valid until the item goes or leaves. */
export interface Place<T> {
  readonly item: T;
  readonly rank: number;
  readonly joinedAtMs: number;
  /** Where it stands in its band's queue; null for a retry, which waits ahead of that. */
  readonly node: QueueNode<T> | null;
}

export interface JoinOptions {
  readonly rank: number;
  /** Items of different owners take turns. */
  readonly owner: string;
  readonly bytes: number;
  readonly nowMs: number;
  /** It has waited its turn before. */
  readonly isRetry?: boolean;
}

/** What a dispatcher says of one waiting item: it was sent; it was sent away; it cannot go up to the given ceiling. */
export type Placement = "sent" | "dropped" | "held";

interface Band<T> {
  readonly queue: FairQueue<T>;
  /** Kept apart: a retry can go to fewer endpoints than those behind it, and must not hold them up. */
  readonly retries: Set<Place<T>>;
}

/** Sums of shares are not exact in binary: ten times 0.1 is less than 1. */
const ONE = 1 - 1e-9;

/**
 * Where the requests of one model wait for a place. Bands go in strict order, owners within a band take turns, and three rules
 * keep the lower bands alive: of every so many dispatches one is theirs while they wait (`lowBandShare`), they take turns for
 * it, and a ceiling holds nobody back for longer than `promoteAfterMs`.
 */
export class AdmissionGate<T> {
  readonly #bands: Band<T>[] = [];
  #settings: GateSettings;
  #size = 0;
  /** Dispatches owed to the bands after the first; from 1 on the next one is theirs. */
  #owed = 0;
  /** Which of them had the last one. */
  #lastOwedRank = 0;

  constructor(settings: GateSettings) {
    this.#settings = settings;
    this.configure(settings);
  }

  /** Takes over other settings. A band that is no more is served behind the others until it is empty. */
  configure(settings: GateSettings): void {
    this.#settings = settings;
    while (this.#bands.length < settings.ceilings.length) {
      this.#bands.push({ queue: new FairQueue<T>(), retries: new Set() });
    }
  }

  /** Items waiting over all bands. */
  get size(): number {
    return this.#size;
  }

  depth(rank: number): number {
    const band = this.#bands[rank];
    return band === undefined ? 0 : band.queue.count + band.retries.size;
  }

  /** Items of this band and those above it. */
  ahead(rank: number): number {
    let count = 0;
    for (let above = 0; above <= rank; above += 1) count += this.depth(above);
    return count;
  }

  ceiling(rank: number): number {
    const { ceilings } = this.#settings;
    return ceilings[rank] ?? ceilings.at(-1) ?? 1;
  }

  /** True if a new item of this band would go before all that wait. */
  isClearFor(rank: number): boolean {
    return this.#size === 0 || (this.#owed < ONE && this.ahead(rank) === 0);
  }

  /** Joins the end of a band's queue; null when the band is full, which is no matter for a retry. */
  join(item: T, { rank, owner, bytes, nowMs, isRetry = false }: JoinOptions): Place<T> | null {
    const { queue, retries } = this.#band(rank);
    const { maxRequests, maxBytes } = this.#settings;
    if (isRetry) {
      const place = { item, rank, joinedAtMs: nowMs, node: null };
      retries.add(place);
      this.#size += 1;
      return place;
    }
    if (queue.count >= maxRequests || (queue.count > 0 && queue.bytes + bytes > maxBytes)) return null;
    this.#size += 1;
    return { item, rank, joinedAtMs: nowMs, node: queue.join(item, { owner, bytes, joinedAtMs: nowMs }) };
  }

  /** Takes a waiting item out; false if it was not waiting any more. */
  leave(place: Place<T>): boolean {
    const { queue, retries } = this.#band(place.rank);
    const hasLeft = place.node === null ? retries.delete(place) : queue.leave(place.node);
    if (hasLeft) this.#size -= 1;
    return hasLeft;
  }

  /** To be told of each dispatch that did not wait here. True: one that waits is owed the next. */
  passed(rank: number): boolean {
    if (this.#size === 0) return false;
    this.#count(rank);
    return this.#owed >= ONE;
  }

  /** Offers the waiting items to `place` in their order, as long as any of them can go. Those that went have left. */
  dispatch(nowMs: number, place: (item: T, ceiling: number) => Placement): void {
    if (this.#size === 0) return;
    this.#dispatchRetries(nowMs, place);
    while (this.#size > 0 && this.#dispatchNext(nowMs, place));
  }

  #dispatchRetries(nowMs: number, place: (item: T, ceiling: number) => Placement): void {
    for (const [rank, { retries }] of this.#bands.entries()) {
      for (const waiting of retries) {
        const placement = place(waiting.item, this.#ceilingOf(waiting.joinedAtMs, rank, nowMs));
        if (placement === "held") continue;
        if (retries.delete(waiting)) this.#size -= 1;
        if (placement === "sent") this.#count(rank);
      }
    }
  }

  /** False when nobody can go. */
  #dispatchNext(nowMs: number, place: (item: T, ceiling: number) => Placement): boolean {
    const owedRank = this.#owed >= ONE ? this.#nextOwedRank() : null;
    if (owedRank !== null) {
      // Held at the first band's own ceiling: then there is room for nobody.
      if (this.#offer(owedRank, this.ceiling(0), place) === "held") return false;
      this.#lastOwedRank = owedRank;
      return true;
    }
    for (let rank = 0; rank < this.#bands.length; rank += 1) {
      const node = this.#band(rank).queue.first();
      if (node === undefined) continue;
      const ceiling = this.#ceilingOf(node.joinedAtMs, rank, nowMs);
      if (this.#offer(rank, ceiling, place) !== "held") return true;
      if (ceiling >= this.ceiling(0)) return false;
    }
    return false;
  }

  #offer(rank: number, ceiling: number, place: (item: T, ceiling: number) => Placement): Placement {
    const { queue } = this.#band(rank);
    const node = queue.first();
    if (node === undefined) return "held";
    const placement = place(node.item, ceiling);
    if (placement === "held") return placement;
    if (queue.take(node)) this.#size -= 1;
    if (placement === "sent") this.#count(rank);
    return placement;
  }

  #ceilingOf(joinedAtMs: number, rank: number, nowMs: number): number {
    return this.ceiling(nowMs - joinedAtMs >= this.#settings.promoteAfterMs ? 0 : rank);
  }

  #count(rank: number): void {
    if (rank > 0) this.#owed = Math.max(0, this.#owed - 1);
    const lowWait = this.#size > this.depth(0);
    this.#owed = lowWait ? Math.min(1, this.#owed + this.#settings.lowBandShare) : 0;
  }

  /** The lower bands that wait take turns. */
  #nextOwedRank(): number | null {
    const lower = this.#bands.length - 1;
    for (let step = 0; step < lower; step += 1) {
      const rank = 1 + ((this.#lastOwedRank + step) % lower);
      if (this.#band(rank).queue.count > 0) return rank;
    }
    return null;
  }

  #band(rank: number): Band<T> {
    const band = this.#bands[rank];
    if (band === undefined) throw new Error(`no band of rank ${rank}: there are ${this.#bands.length}`);
    return band;
  }
}
