import type { Clock } from "./clock.ts";
import type { Logger } from "./logger.ts";

export type StopSignal = "SIGTERM" | "SIGINT";

/** npm and shells forward a signal the process group already received: within this time two are one. */
const SAME_SIGNAL_MS = 1_000;

/** Exit code of a process ended by a signal: 128 + its number (POSIX shells). */
const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

export interface StopSignalOptions {
  readonly log: Logger;
  readonly clock: Clock;
  /** Called once, on the first signal. */
  readonly onStop: (signal: StopSignal) => void;
}

/**
 * Watches SIGTERM and SIGINT until the process ends; a second one that is not an echo of the first ends it at once. The
 * watch outlives a quick shutdown on purpose: an echo that comes just after must not kill a process that ended well.
 */
export function watchStopSignals({ log, clock, onStop }: StopSignalOptions): void {
  let firstAtMs: number | undefined;
  const onSignal = (signal: StopSignal) => {
    const nowMs = clock.monotonicMs();
    if (firstAtMs === undefined) {
      firstAtMs = nowMs;
      onStop(signal);
    } else if (nowMs - firstAtMs > SAME_SIGNAL_MS) {
      log.warn({ signal }, "second signal: exiting at once");
      process.exit(EXIT_CODES[signal]);
    }
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
