import type { Clock } from "@llmgw/service";

/** Something that a held poll waits for: it calls `wake`, and is let go by the function it answers. */
export type Subscribe = (wake: () => void) => () => void;

/**
 * Holds a poll until one of `sources` wakes it and `isDue` says so, at most `holdMs`. Answers whether it became due;
 * false also when the caller went away.
 */
export async function holdPoll(options: {
  readonly isDue: () => boolean;
  readonly sources: readonly Subscribe[];
  readonly holdMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<boolean> {
  const { isDue, sources, holdMs, clock, signal } = options;
  if (isDue()) return true;
  if (signal.aborted) return false;
  const due = new AbortController();
  const ends = sources.map((subscribe) =>
    subscribe(() => {
      if (isDue()) due.abort();
    }),
  );
  try {
    await clock.sleep(holdMs, AbortSignal.any([signal, due.signal]));
  } catch (error) {
    if (!due.signal.aborted && !signal.aborted) throw error;
  } finally {
    for (const end of ends) end();
  }
  return isDue();
}
