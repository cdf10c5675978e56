/** Where time enters a program. Everything that waits or stamps takes a `Clock`, so that a test can drive it by hand. */
export interface Clock {
  /** Wall clock, milliseconds since the Unix epoch. May jump: only for stamps, never for measuring a wait. */
  nowMs(): number;
  /** Monotonic clock in milliseconds with an arbitrary zero: for durations and deadlines. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it aborts (at once if it already has). */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The longest delay a Node timer keeps; a longer one would fire after 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The real clock. Its sleeps keep the process alive, as the work that waits on them should. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    let leftMs = Math.max(0, ms);
    do {
      const stepMs = Math.min(leftMs, MAX_TIMER_MS);
      await wait(stepMs, signal);
      leftMs -= stepMs;
    } while (leftMs > 0);
  },
};

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
