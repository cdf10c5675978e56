/** How often the supervisor looks, ms. One factor scales all of them together. */
export interface Timings {
  /** The reducer's clock: deadlines are met to within this. */
  readonly tickMs: number;
  /** Is the main process there, and, while loading, is it ready and does its log grow. */
  readonly watchMs: number;
  readonly healthMs: number;
  /** Between reads of a draining engine's counts. */
  readonly quietReadMs: number;
  /** Between reads of a serving engine's counts, which are only for display. */
  readonly activityMs: number;
  /** How long one question to an engine may take. */
  readonly probeTimeoutMs: number;
  /** Between looks for the last processes of an ended engine. */
  readonly goneMs: number;
  /** How long an engine may run requests without computing anything. */
  readonly noProgressMs: number;
  readonly logCheckMs: number;
  /** Between looks for logs of replicas that are gone. */
  readonly pruneMs: number;
}

const seconds = 1_000;

/** The defaults, times the factor (`LLMGW_TIME_SCALE`). */
export function timings(scale: number): Timings {
  return {
    tickMs: 0.25 * seconds * scale,
    watchMs: 0.5 * seconds * scale,
    healthMs: 5 * seconds * scale,
    quietReadMs: 1 * seconds * scale,
    activityMs: 2 * seconds * scale,
    // Not scaled: how fast an engine answers does not depend on how patient we are with everything else.
    probeTimeoutMs: 5 * seconds,
    goneMs: 0.1 * seconds * scale,
    noProgressMs: 30 * seconds * scale,
    logCheckMs: 10 * seconds * scale,
    pruneMs: 3_600 * seconds,
  };
}
