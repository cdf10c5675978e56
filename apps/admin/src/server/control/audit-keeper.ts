import type { Clock, Logger } from "@llmgw/service";
import type { HeldLease } from "../db/lease.ts";

export interface AuditKeeperOptions {
  /** The lease of the control loop, while this admin holds it. */
  readonly lease: () => HeldLease | null;
  /** Seals some rows; resolves to how many. */
  readonly seal: (lease: HeldLease) => Promise<number>;
  /** Deletes some rows that are past their time; resolves to how many. */
  readonly prune: (lease: HeldLease) => Promise<number>;
  readonly sealEveryMs: number;
  readonly pruneEveryMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Seals the audit and prunes it, on the admin that runs the control loop. */
export class AuditKeeper {
  readonly #options: AuditKeeperOptions;
  #pruneAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: AuditKeeperOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, sealEveryMs } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(sealEveryMs, signal);
      const lease = this.#options.lease();
      if (lease === null) continue;
      try {
        await this.#keep(lease, signal);
      } catch (error) {
        log.error({ error }, "the audit could not be sealed or pruned; trying again");
      }
    }
  }

  async #keep(lease: HeldLease, signal: AbortSignal): Promise<void> {
    const { clock, log, seal, prune, pruneEveryMs } = this.#options;
    while ((await seal(lease)) > 0) signal.throwIfAborted();
    if (clock.monotonicMs() < this.#pruneAtMs) return;
    let pruned = 0;
    for (let some = await prune(lease); some > 0; some = await prune(lease)) {
      signal.throwIfAborted();
      pruned += some;
    }
    if (pruned > 0) log.info({ rows: pruned }, "pruned the audit");
    this.#pruneAtMs = clock.monotonicMs() + pruneEveryMs;
  }
}
