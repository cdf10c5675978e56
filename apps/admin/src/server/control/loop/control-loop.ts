import type { Action, ClusterSnapshot } from "@llmgw/domain";
import type { Clock, Logger } from "@llmgw/service";
import type { Committed } from "../../db/commit/commit-action.ts";
import type { HeldLease } from "../../db/lease.ts";

export interface ControlLoopOptions {
  /** The lease, while this admin holds it. */
  readonly lease: () => HeldLease | null;
  readonly onFenced: () => void;
  /** This database is older than what runs: nothing may be decided from it. */
  readonly isHeld: () => boolean;
  readonly read: (controlSinceMs: number) => Promise<ClusterSnapshot>;
  readonly plan: (snapshot: ClusterSnapshot) => readonly Action[];
  readonly commit: (action: Action, lease: HeldLease) => Promise<Committed>;
  /** Something was committed. */
  readonly onCommitted: () => void;
  /** A pass that read, planned and committed took this long. */
  readonly observe: (durationMs: number) => void;
  readonly everyMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Passes that follow each other without a wait: enough for any chain of decisions, and an end to one that circles. */
const MAX_CONSECUTIVE_PASSES = 25;

/**
 * The control loop: read, plan, commit, again until a pass changes nothing; then wait for a poke or for `everyMs`. It
 * keeps nothing between passes, so it may stop anywhere and another admin goes on.
 */
export class ControlLoop {
  readonly #options: ControlLoopOptions;
  #poked = false;
  #wake: () => void = () => undefined;

  constructor(options: ControlLoopOptions) {
    this.#options = options;
  }

  /** Something happened that a decision may depend on. */
  poke(): void {
    this.#poked = true;
    this.#wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#poked = false;
      await this.#settle(signal);
      await this.#rest(signal);
    }
  }

  async #settle(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    for (let pass = 0; pass < MAX_CONSECUTIVE_PASSES && !signal.aborted; pass += 1) {
      const lease = this.#options.lease();
      if (lease === null || this.#options.isHeld()) return;
      try {
        if ((await this.#pass(lease)) === 0) return;
      } catch (error) {
        log.error({ error }, "a pass of the control loop failed; the next one starts anew");
        return;
      }
    }
    if (!signal.aborted) log.warn({ passes: MAX_CONSECUTIVE_PASSES }, "the control loop does not settle");
  }

  /** How many actions were committed. */
  async #pass(lease: HeldLease): Promise<number> {
    const { clock, read, plan, commit, log } = this.#options;
    const startedMs = clock.monotonicMs();
    const actions = plan(await read(lease.takenAtMs));
    let committed = 0;
    for (const action of actions) {
      const outcome = await commit(action, lease);
      if (outcome.kind === "fenced") {
        log.warn({ epoch: lease.epoch }, "the lease was lost; this pass ends");
        this.#options.onFenced();
        break;
      }
      if (outcome.kind === "committed") {
        committed += 1;
        log.debug({ action: describe(action) }, "committed");
        this.#options.onCommitted();
      } else {
        log.info({ action: describe(action), why: outcome.why }, "dropped: what it relied on has changed");
      }
    }
    this.#options.observe(clock.monotonicMs() - startedMs);
    return committed;
  }

  async #rest(signal: AbortSignal): Promise<void> {
    if (this.#poked) return;
    const poke = new AbortController();
    this.#wake = () => poke.abort();
    try {
      await this.#options.clock.sleep(this.#options.everyMs, AbortSignal.any([signal, poke.signal]));
    } catch (error) {
      if (!poke.signal.aborted && !signal.aborted) throw error;
    } finally {
      this.#wake = () => undefined;
    }
  }
}

/** An action without its bulky parts, for the log. */
function describe(action: Action): Record<string, unknown> {
  const short: Record<string, unknown> = { ...action };
  for (const bulky of ["record", "exit"]) delete short[bulky];
  return short;
}
