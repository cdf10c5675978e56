import type { Clock, Logger, RunGroupPart } from "@llmgw/service";
import type { AdminClient } from "../registry/admin-client.ts";
import type { UsageJournal } from "./usage-journal.ts";

export interface UsageUploadOptions {
  readonly journal: UsageJournal;
  readonly client: Pick<AdminClient, "reportUsage">;
  readonly routerId: string;
  readonly clock: Clock;
  readonly log: Logger;
}

const EVERY_MS = 10_000;
const LOOK_MS = 250;
const TIMEOUT_MS = 10_000;
/** When the router ends: what the admin does not take by then, the next process sends. */
const LAST_TIMEOUT_MS = 1_000;

/** Brings the journal's batches to the admin, the oldest first, each until it is taken. */
export class UsageUpload implements RunGroupPart {
  readonly name = "usage upload";
  readonly #options: UsageUploadOptions;
  #problem: string | null = null;

  constructor(options: UsageUploadOptions) {
    this.#options = options;
  }

  /** What went wrong last; null while all is well. */
  get problem(): string | null {
    return this.#problem;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { journal, clock } = this.#options;
    let dueAtMs = clock.monotonicMs();
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal);
      const isDue = clock.monotonicMs() >= dueAtMs;
      if (!isDue && !journal.isFull) continue;
      await this.upload(signal);
      dueAtMs = clock.monotonicMs() + EVERY_MS;
    }
  }

  /** One last try, before the router ends. */
  async finish(): Promise<void> {
    await this.upload(new AbortController().signal, LAST_TIMEOUT_MS);
  }

  /** Sends all that there is, until the admin does not take a batch. */
  async upload(signal: AbortSignal, timeoutMs = TIMEOUT_MS): Promise<void> {
    const { journal, client, routerId } = this.#options;
    await journal.seal();
    for (let batch = await journal.oldest(); batch !== null; batch = await journal.oldest()) {
      const answered = await client.reportUsage({ router: routerId, batch }, timeoutMs, signal);
      this.#note(answered.kind === "failed" ? answered.problem : null);
      if (answered.kind === "failed") return;
      await journal.remove(batch);
    }
  }

  #note(problem: string | null): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === null) this.#options.log.info("the admin takes usage again");
    else this.#options.log.warn({ problem }, "usage waits on disk: the admin does not take it");
  }
}
