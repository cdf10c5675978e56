import type { FaultState } from "../faults/fault-state.ts";

/** The order to stop, which a fault can delay or swallow. */
export interface Termination {
  /** Aborts when the process is to stop. */
  readonly signal: AbortSignal;
  /** SIGTERM or SIGINT has come. */
  request(): void;
}

export function createTermination(faults: FaultState): Termination {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    request() {
      const deafForMs = faults.find("ignore-sigterm")?.forMs;
      if (deafForMs === undefined) {
        controller.abort();
      } else if (Number.isFinite(deafForMs)) {
        setTimeout(() => controller.abort(), deafForMs).unref();
      }
    },
  };
}

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    return;
  }
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
