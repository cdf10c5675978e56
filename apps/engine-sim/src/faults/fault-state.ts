import type { Fault } from "./fault.ts";

/** The faults in force now. They change at run time through the control port. */
export interface FaultState {
  all(): readonly Fault[];
  /** The first fault of a kind, if any. */
  find<K extends Fault["kind"]>(kind: K): Extract<Fault, { kind: K }> | undefined;
  set(faults: readonly Fault[]): void;
  /** Called after each change; returns what undoes the subscription. */
  onChange(listener: () => void): () => void;
}

export function createFaultState(initial: readonly Fault[]): FaultState {
  let faults = initial;
  const listeners = new Set<() => void>();
  return {
    all: () => faults,
    find: <K extends Fault["kind"]>(kind: K) =>
      faults.find((fault): fault is Extract<Fault, { kind: K }> => fault.kind === kind),
    set(next) {
      faults = next;
      for (const listener of listeners) {
        listener();
      }
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
