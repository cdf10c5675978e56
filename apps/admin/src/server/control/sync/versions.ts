import type { Clock, Logger } from "@llmgw/service";
import type { Versions } from "../../db/cluster-row.ts";

/**
 * What this admin knows of the cluster's version, read again and again; polls wait on it. When the database is away it
 * keeps what it knew last.
 */
export class VersionWatch {
  readonly #read: () => Promise<Versions>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting = new Set<() => void>();
  #known: Versions;
  #reachable = true;
  #reading: Promise<void> | null = null;
  #again = false;

  constructor(options: {
    readonly read: () => Promise<Versions>;
    readonly initial: Versions;
    readonly clock: Clock;
    readonly log: Logger;
  }) {
    this.#read = options.read;
    this.#known = options.initial;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  get version(): number {
    return this.#known.version;
  }

  /** Somebody runs a newer version than this database has. */
  get held(): boolean {
    return this.#known.reported > this.#known.version;
  }

  get reported(): number {
    return this.#known.reported;
  }

  /** The last read of the database succeeded. */
  get reachable(): boolean {
    return this.#reachable;
  }

  /** Reads now. Calls during a read lead to one more after it, so that what was committed before a call is seen. */
  refresh(): Promise<void> {
    if (this.#reading !== null) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#readUntilFresh().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readUntilFresh(): Promise<void> {
    do {
      this.#again = false;
      await this.#readOnce();
    } while (this.#again);
  }

  async #readOnce(): Promise<void> {
    try {
      const found = await this.#read();
      if (!this.#reachable) this.#log.info("the database answers again");
      this.#reachable = true;
      const changed = found.version !== this.#known.version || found.reported !== this.#known.reported;
      this.#known = found;
      if (changed) this.wakeAll();
    } catch (error) {
      if (this.#reachable) this.#log.error({ error }, "the database is away; agents and routers keep what they have");
      this.#reachable = false;
    }
  }

  /** Reads the version every `everyMs` until the signal aborts. */
  async run(everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(everyMs, signal);
      await this.refresh();
    }
  }

  wakeAll(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Calls `wake` at each change of the version until the answer is called. */
  onChange(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }
}
