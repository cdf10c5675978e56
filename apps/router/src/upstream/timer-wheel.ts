import type { Clock, RunGroupPart } from "@llmgw/service";

/** Something with a deadline. The answer is its next one (monotonic ms), or null when it waits for nothing any more. */
export interface TimerTarget {
  onDeadline(nowMs: number): number | null;
}

/** A deadline that stands in the wheel. Moving it to a later instant costs nothing: let it come due and answer the new one. */
export interface Timer {
  /** Brings the deadline forward to `atMs` if it is later. */
  noLaterThan(atMs: number): void;
  cancel(): void;
}

interface Entry {
  readonly target: TimerTarget;
  atMs: number;
  slot: Set<Entry> | null;
}

const SLOTS = 512;

/**
 * One timer for all deadlines of all requests. Thousands of streams each with several limits would otherwise set and clear
 * a timer per event. A deadline comes due up to one tick late, never early.
 */
export class TimerWheel implements RunGroupPart {
  readonly name = "timer wheel";
  readonly #clock: Clock;
  readonly #tickMs: number;
  readonly #slots: readonly Set<Entry>[] = Array.from({ length: SLOTS }, () => new Set<Entry>());
  #tick: number;

  constructor(clock: Clock, tickMs = 20) {
    this.#clock = clock;
    this.#tickMs = tickMs;
    this.#tick = this.#tickOf(clock.monotonicMs());
  }

  add(target: TimerTarget, atMs: number): Timer {
    const entry: Entry = { target, atMs, slot: null };
    this.#place(entry);
    return {
      noLaterThan: (earlierMs) => {
        if (entry.slot === null || earlierMs >= entry.atMs) return;
        this.#remove(entry);
        entry.atMs = earlierMs;
        this.#place(entry);
      },
      cancel: () => this.#remove(entry),
    };
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(this.#tickMs, signal);
      this.advance(this.#clock.monotonicMs());
    }
  }

  /** Handles every deadline up to now. */
  advance(nowMs: number): void {
    const last = this.#tickOf(nowMs);
    // After a long pause of the process one turn over all slots is enough.
    const first = Math.max(this.#tick, last - SLOTS + 1);
    for (let tick = first; tick <= last; tick += 1) this.#expire(this.#slot(tick), nowMs);
    this.#tick = last;
  }

  #expire(slot: Set<Entry>, nowMs: number): void {
    for (const entry of [...slot]) {
      if (entry.slot !== slot || entry.atMs > nowMs) continue;
      this.#remove(entry);
      const nextMs = entry.target.onDeadline(nowMs);
      if (nextMs === null) continue;
      entry.atMs = nextMs;
      this.#place(entry);
    }
  }

  #place(entry: Entry): void {
    // One tick on, so that the slot is looked at after the deadline and not within the tick before it.
    const tick = Math.max(this.#tick, this.#tickOf(entry.atMs)) + 1;
    entry.slot = this.#slot(tick);
    entry.slot.add(entry);
  }

  #remove(entry: Entry): void {
    entry.slot?.delete(entry);
    entry.slot = null;
  }

  #tickOf(atMs: number): number {
    return Math.floor(atMs / this.#tickMs);
  }

  #slot(tick: number): Set<Entry> {
    const slot = this.#slots[tick % SLOTS];
    if (slot === undefined) throw new Error(`timer wheel has no slot for tick ${tick}`);
    return slot;
  }
}
