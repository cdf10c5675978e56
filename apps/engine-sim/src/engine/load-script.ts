import type { SimClock } from "../core/clock.ts";
import type { FaultState } from "../faults/fault-state.ts";

/** One stage of loading: what is said when it begins, and which part of the load time it takes. */
export interface LoadStage {
  /** Part of the whole load time, 0..1. */
  readonly share: number;
  /** Said once the stage is over. */
  readonly done: () => void;
  /** Whether a stalled load stops before this stage. */
  readonly stallsHere?: boolean;
}

export interface LoadParts {
  readonly clock: SimClock;
  readonly faults: FaultState;
  readonly loadMs: number;
}

/** Plays the stages of a start. Returns early when the signal aborts. Slow and stalled loads obey the faults. */
export async function playLoad(stages: readonly LoadStage[], parts: LoadParts, signal: AbortSignal): Promise<void> {
  for (const stage of stages) {
    if (stage.stallsHere === true) {
      await whileStalled(parts.faults, signal);
    }
    const slowness = parts.faults.find("slow-load")?.factor ?? 1;
    await sleep((stage.share * parts.loadMs * slowness) / parts.clock.factor(), signal);
    if (signal.aborted) {
      return;
    }
    stage.done();
  }
}

async function whileStalled(faults: FaultState, signal: AbortSignal): Promise<void> {
  while (faults.find("stall-load") !== undefined && !signal.aborted) {
    await new Promise<void>((resolve) => {
      const wake = () => {
        unsubscribe();
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const unsubscribe = faults.onChange(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
}

/** Real milliseconds; ends early when the signal aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) {
    return;
  }
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
