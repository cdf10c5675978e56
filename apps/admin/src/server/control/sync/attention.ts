import type { Clock } from "@llmgw/service";

/** Somebody who looked within this time still looks: pages ask again more often than that. */
const WATCHED_MS = 10_000;

/** Whether anybody needs fresh numbers now: agents and routers then report more often. */
export class Attention {
  readonly #clock: Clock;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A page or a command read something. */
  look(): void {
    this.#lookedAtMs = this.#clock.monotonicMs();
  }

  get watched(): boolean {
    return this.#clock.monotonicMs() - this.#lookedAtMs < WATCHED_MS;
  }
}
