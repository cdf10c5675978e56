import type { Clock, Logger } from "@llmgw/service";

export interface Repetition {
  readonly clock: Clock;
  readonly log: Logger;
  /** What is done, for the log when it fails. */
  readonly what: string;
  /** The pause after each time, asked anew. */
  readonly everyMs: () => number;
}

/**
 * Does something again and again until the signal aborts. A time that throws is logged and the next one comes as ever:
 * one full disk or one odd answer must not end the watch over an engine.
 */
export async function repeat(
  work: () => Promise<void> | void,
  { clock, log, what, everyMs }: Repetition,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error }, `${what} failed; it is tried again`);
    }
    await pause(clock, everyMs(), signal);
  }
}

/** Waits; returns early, without throwing, when the signal aborts. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
