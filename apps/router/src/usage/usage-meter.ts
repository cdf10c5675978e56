import type { Clock, Logger } from "@llmgw/service";
import type { Exchange } from "../http/exchange.ts";
import type { UsageJournal } from "./usage-journal.ts";

export interface UsageMeterOptions {
  readonly journal: UsageJournal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Writes down what each request used, when it ends. */
export class UsageMeter {
  readonly #options: UsageMeterOptions;
  #lost = 0;

  constructor(options: UsageMeterOptions) {
    this.#options = options;
  }

  /** Records that the disk did not take. The requests went on. */
  get lost(): number {
    return this.#lost;
  }

  /** A request that no engine has worked on used nothing. */
  exchangeEnded({ keyId, modelId, attempts, usage, contentEvents }: Exchange): void {
    if (keyId === null || modelId === null || attempts === 0) return;
    const { journal, clock, log } = this.#options;
    const record = {
      atMs: Math.round(clock.nowMs()),
      keyId,
      model: modelId,
      promptTokens: usage?.promptTokens ?? 0,
      completionTokens: usage?.completionTokens ?? contentEvents,
      cachedTokens: usage?.cachedTokens ?? 0,
      isEstimated: usage === null,
    };
    try {
      journal.append(record);
    } catch (error) {
      this.#lost += 1;
      if (this.#lost === 1) log.error({ error }, "usage cannot be written down: the data folder does not take it");
    }
  }
}
