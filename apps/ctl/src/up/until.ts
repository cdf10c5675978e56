import type { Clock } from "@llmgw/service";

export interface UntilOptions {
  readonly what: string;
  readonly timeoutMs: number;
  readonly everyMs?: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Asks again and again until the answer is not null; rejects, naming what it waited for, when the time is over. */
export async function until<T>(ask: () => Promise<T | null>, options: UntilOptions): Promise<T> {
  const { clock, signal, everyMs = 100 } = options;
  const deadlineMs = clock.monotonicMs() + options.timeoutMs;
  let last = "no answer yet";
  while (clock.monotonicMs() < deadlineMs) {
    signal.throwIfAborted();
    try {
      const answer = await ask();
      if (answer !== null) return answer;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await clock.sleep(everyMs, signal);
  }
  throw new Error(`${options.what} took longer than ${options.timeoutMs / 1000} s (${last})`);
}
