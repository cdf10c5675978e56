import type { Clock, Logger } from "@llmgw/service";

export interface UsageKeeperOptions {
  /** True while this admin runs the control loop. */
  readonly isLeader: () => boolean;
  /** Forgets what is past its time; resolves to how many rows that were. */
  readonly prune: () => Promise<number>;
  readonly clock: Clock;
  readonly log: Logger;
}

const LOOK_MS = 60_000;
const PRUNE_EVERY_MS = 24 * 3_600_000;

/** Forgets old usage, once a day, on the admin that runs the control loop. */
export class UsageKeeper {
  readonly #options: UsageKeeperOptions;
  #pruneAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: UsageKeeperOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, isLeader, prune } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      if (!isLeader() || clock.monotonicMs() < this.#pruneAtMs) continue;
      try {
        const rows = await prune();
        this.#pruneAtMs = clock.monotonicMs() + PRUNE_EVERY_MS;
        if (rows > 0) log.info({ rows }, "pruned usage");
      } catch (error) {
        log.error({ error }, "usage could not be pruned; trying again");
      }
    }
  }
}
