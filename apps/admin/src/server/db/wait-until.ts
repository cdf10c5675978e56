import { systemClock } from "@llmgw/service";

/**
 * Asks `check` every `intervalMs` until it answers true (→ true) or `timeoutMs` are over (→ false). It watches other
 * processes, so it keeps real time.
 * @throws the signal's reason when `signal` is aborted first.
 */
export async function waitUntil(
  check: () => boolean | Promise<boolean>,
  options: { readonly timeoutMs: number; readonly intervalMs: number; readonly signal?: AbortSignal },
): Promise<boolean> {
  const { timeoutMs, intervalMs, signal = new AbortController().signal } = options;
  const deadlineMs = systemClock.monotonicMs() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    if (await check()) {
      return true;
    }
    if (systemClock.monotonicMs() >= deadlineMs) {
      return false;
    }
    await systemClock.sleep(intervalMs, signal);
  }
}
