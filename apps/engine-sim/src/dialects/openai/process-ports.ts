import type { SimSettings } from "../../cli/sim-flags.ts";

/** What the simulator needs of its process. */
export interface ProcessPorts {
  readonly pid: number;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly wallClockMs: () => number;
  readonly monotonicMs: () => number;
  /** Ends the process on the spot: nothing is closed, clients see their connections break. */
  readonly exitNow: (code: number) => void;
  readonly killSelf: (signal: NodeJS.Signals) => void;
  /** Runs when the process exits in whatever way it can notice. */
  readonly onExit: (cleanUp: () => void) => void;
  /** Leaves a process behind that is in a session of its own, ignores SIGTERM and holds this memory too. */
  readonly forkStray: (claim: SimSettings["claim"]) => void;
  /** SIGTERM and SIGINT. */
  readonly onTerminationRequest: (listener: () => void) => void;
}

export type RunEnd =
  | { readonly kind: "exit"; readonly code: number }
  /** The process ends by this signal, as one does that has no handler for it or aborts itself. */
  | { readonly kind: "signal"; readonly signal: "SIGTERM" | "SIGABRT" };
