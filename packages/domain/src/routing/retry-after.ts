const MIN_SECONDS = 1;
const MAX_SECONDS = 60;
/** Said while no completion has been seen yet. */
const UNKNOWN_SECONDS = 5;

/** Whole seconds until `neededSlots` requests have finished at the observed rate (per second), 1 to 60. */
export function retryAfterSeconds(neededSlots: number, drainRatePerSecond: number | null): number {
  if (drainRatePerSecond === null || drainRatePerSecond <= 0) return UNKNOWN_SECONDS;
  return clampSeconds(Math.ceil(neededSlots / drainRatePerSecond));
}

/** A wait in milliseconds as a `Retry-After` value: whole seconds, 1 to 60. */
export function waitSeconds(waitMs: number): number {
  return clampSeconds(Math.ceil(waitMs / 1_000));
}

function clampSeconds(seconds: number): number {
  return Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, seconds));
}
