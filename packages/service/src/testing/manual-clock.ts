import type { Clock } from "../clock.ts";

interface Sleeper {
  readonly wakeAtMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until a test moves it. Wall and monotonic time advance together. */
export class ManualClock implements Clock {
  readonly #startMs: number;
  #elapsedMs = 0;
  #sleepers: Sleeper[] = [];

  /** `startMs` is the wall clock's first reading; the monotonic clock starts at 0. */
  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  /** How many sleeps are waiting for the clock to move. */
  get sleepers(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const sleeper: Sleeper = {
        wakeAtMs: this.#elapsedMs + Math.max(0, ms),
        wake: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#sleepers.push(sleeper);
    });
  }

  /**
   * Moves time forward by `ms`, waking each sleeper at its own instant and in order. Between two wakes the event loop
   * turns once, so that woken code can run and sleep again within the same advance.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    await turn();
    for (let next = this.#nextDue(endMs); next !== undefined; next = this.#nextDue(endMs)) {
      const due = next;
      this.#elapsedMs = due.wakeAtMs;
      this.#sleepers = this.#sleepers.filter((other) => other !== due);
      due.wake();
      await turn();
    }
    this.#elapsedMs = endMs;
  }

  #nextDue(endMs: number): Sleeper | undefined {
    return this.#sleepers
      .filter((sleeper) => sleeper.wakeAtMs <= endMs)
      .sort((a, b) => a.wakeAtMs - b.wakeAtMs)
      .at(0);
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
