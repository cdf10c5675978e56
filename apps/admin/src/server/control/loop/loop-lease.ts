import type { Clock, Logger } from "@llmgw/service";
import type { Fence, HeldLease } from "../../db/lease.ts";

export interface LeaseStore {
  acquire(): Promise<HeldLease | null>;
  release(fence: Fence): Promise<void>;
}

/** Keeps trying to hold the lease of the control loop, and says whether it is held. */
export class LoopLease {
  readonly #store: LeaseStore;
  readonly #leaseMs: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onTaken: () => void;
  #held: HeldLease | null = null;
  #validUntilMs = Number.NEGATIVE_INFINITY;

  constructor(options: {
    readonly store: LeaseStore;
    readonly leaseMs: number;
    readonly onTaken: () => void;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#store = options.store;
    this.#leaseMs = options.leaseMs;
    this.#onTaken = options.onTaken;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** The lease as long as it surely runs by this process's own clock; the database decides at each commit anyway. */
  get held(): HeldLease | null {
    return this.#clock.monotonicMs() < this.#validUntilMs ? this.#held : null;
  }

  /** A commit was fenced: somebody else has it. */
  lost(): void {
    this.#validUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Takes and renews it every `renewMs` until the signal aborts, then lets it go. */
  async run(renewMs: number, signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        await this.#renew();
        await this.#clock.sleep(renewMs, signal);
      }
    } finally {
      await this.#release();
    }
  }

  async #renew(): Promise<void> {
    const askedAtMs = this.#clock.monotonicMs();
    try {
      const before = this.#held;
      const held = await this.#store.acquire();
      this.#validUntilMs = held === null ? Number.NEGATIVE_INFINITY : askedAtMs + this.#leaseMs;
      this.#held = held;
      if (held !== null && held.epoch !== before?.epoch) {
        this.#log.info({ epoch: held.epoch }, "this admin runs the control loop");
        this.#onTaken();
      } else if (held === null && before !== null) {
        this.#log.warn("another admin runs the control loop now");
      }
    } catch (error) {
      this.#log.warn({ error }, "the lease of the control loop could not be renewed");
    }
  }

  async #release(): Promise<void> {
    const { held } = this;
    if (held === null) return;
    this.lost();
    try {
      await this.#store.release(held);
    } catch (error) {
      this.#log.warn({ error }, "the lease could not be let go; it runs out by itself");
    }
  }
}
