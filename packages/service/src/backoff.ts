export interface Backoff {
  /** Failures so far, from 0: the wait before the first retry has attempt 0. */
  readonly attempt: number;
  readonly baseMs: number;
  readonly maxMs: number;
  /** Uniform in [0, 1), such as `Math.random`. */
  readonly random: () => number;
}

/**
 * The wait before a retry: exponential with "equal jitter", uniform between half and the whole of
 * `min(maxMs, baseMs · 2^attempt)`, so that many clients of one lost server do not come back in step.
 * Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function backoffMs({ attempt, baseMs, maxMs, random }: Backoff): number {
  const ceilingMs = Math.min(maxMs, baseMs * 2 ** attempt);
  return Math.round(ceilingMs / 2 + (random() * ceilingMs) / 2);
}
