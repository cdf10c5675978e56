import type { Clock, Logger } from "@llmgw/service";

/**
 * Collects the newest report of each sender and saves them together: soon (within `soonMs`) once one of them is urgent,
 * else every `everyMs`. A failed save keeps what nobody has replaced meanwhile for the next one.
 */
export class ReportBatch<T extends { readonly urgent: boolean }> {
  readonly #save: (reports: readonly T[]) => Promise<void>;
  readonly #merge: (older: T, newer: T) => T;
  readonly #clock: Clock;
  readonly #log: Logger;
  #pending = new Map<string, T>();
  #wake: () => void = () => undefined;

  constructor(options: {
    readonly save: (reports: readonly T[]) => Promise<void>;
    readonly merge: (older: T, newer: T) => T;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#save = options.save;
    this.#merge = options.merge;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  add(sender: string, report: T): void {
    const older = this.#pending.get(sender);
    this.#pending.set(sender, older === undefined ? report : this.#merge(older, report));
    if (report.urgent) this.#wake();
  }

  async flush(): Promise<void> {
    const taken = this.#pending;
    this.#pending = new Map();
    if (taken.size === 0) return;
    try {
      await this.#save([...taken.values()]);
    } catch (error) {
      this.#log.warn({ error, reports: taken.size }, "reports could not be saved; trying again");
      for (const [sender, report] of taken) {
        const newer = this.#pending.get(sender);
        this.#pending.set(sender, newer === undefined ? report : this.#merge(report, newer));
      }
    }
  }

  /** Saves until the signal aborts, and once more then. */
  async run(times: { readonly everyMs: number; readonly soonMs: number }, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#untilDue(times.everyMs, signal);
      await this.#clock.sleep(times.soonMs, signal).catch(() => undefined); // the loop's head looks at the signal
      await this.flush();
    }
    await this.flush();
  }

  async #untilDue(everyMs: number, signal: AbortSignal): Promise<void> {
    if ([...this.#pending.values()].some((report) => report.urgent)) return;
    const urgent = new AbortController();
    this.#wake = () => urgent.abort();
    try {
      await this.#clock.sleep(everyMs, AbortSignal.any([signal, urgent.signal]));
    } catch (error) {
      if (!urgent.signal.aborted && !signal.aborted) throw error;
    } finally {
      this.#wake = () => undefined;
    }
  }
}
