/**
 * The engine's own time in milliseconds. It runs `factor` times as fast as real time and can stand still, which is how
 * a hung engine is simulated: nothing is due any more, and nothing bursts out when it goes on.
 */
export interface SimClock {
  nowMs(): number;
  /** Real milliseconds to wait until the engine's time reaches `dueMs`; Infinity while the clock stands still. */
  realDelayMs(dueMs: number): number;
  factor(): number;
  setFactor(factor: number): void;
  setPaused(paused: boolean): void;
  paused(): boolean;
}

/** @param monotonicMs real monotonic time, milliseconds */
export function createSimClock(monotonicMs: () => number, initialFactor: number): SimClock {
  let factor = initialFactor;
  let paused = false;
  let baseRealMs = monotonicMs();
  let baseSimMs = 0;

  const nowMs = () => (paused ? baseSimMs : baseSimMs + (monotonicMs() - baseRealMs) * factor);
  const rebase = () => {
    baseSimMs = nowMs();
    baseRealMs = monotonicMs();
  };

  return {
    nowMs,
    realDelayMs: (dueMs) => (paused ? Number.POSITIVE_INFINITY : Math.max(0, (dueMs - nowMs()) / factor)),
    factor: () => factor,
    setFactor: (next) => {
      rebase();
      factor = next;
    },
    setPaused: (next) => {
      rebase();
      paused = next;
    },
    paused: () => paused,
  };
}
