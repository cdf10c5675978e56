import type { DrainView, MoveView } from "@llmgw/api";
import { moveSteps } from "@llmgw/domain";
import { percent } from "./replica-state.ts";
import type { StateWord } from "./states.tsx";

export const stepNames = ["queued", "placing", "loading", "replacementServing", "draining", "stopped"] as const;
export type ShownStep = (typeof stepNames)[number];

export const stepWords: Readonly<Record<ShownStep, string>> = {
  queued: "Queued",
  placing: "Placing",
  loading: "Loading",
  replacementServing: "Replacement serving",
  draining: "Draining",
  stopped: "Stopped",
};

/** `stopping` and `stopped` share the last step of the stepper. */
export function shownStep(move: Pick<MoveView, "step">): ShownStep {
  return move.step === "stopping" ? "stopped" : move.step;
}

/** It fits nowhere just now: it holds no slot and waits for room. */
export function isBlocked(move: Pick<MoveView, "reason">): boolean {
  return move.reason?.code === "waits_for_capacity" || move.reason?.code === "no_fit";
}

/** The furthest first, those that cannot move last. */
export function byProgress(moves: readonly MoveView[]): readonly MoveView[] {
  const place = (move: MoveView) => (isBlocked(move) && move.step !== "stopped" ? -1 : moveSteps.indexOf(move.step));
  return [...moves].sort((a, b) => place(b) - place(a) || a.replicaId.localeCompare(b.replicaId));
}

/** Where a move is, in one state and word. */
export function moveStateOf(move: MoveView): StateWord {
  if (move.step === "stopped")
    return move.lost ? { state: "failed", word: "Lost" } : { state: "healthy", word: "Moved" };
  if (isBlocked(move)) return { state: "blocked", word: "Cannot move yet" };
  switch (move.step) {
    case "queued":
      return { state: "queued", word: "Queued" };
    case "placing":
      return { state: "starting", word: "Placing" };
    case "loading":
      return { state: "starting", word: move.loadRatio === null ? "Loading" : `Loading ${percent(move.loadRatio)}` };
    case "replacementServing":
      return { state: "moving", word: "Replacement serving" };
    case "draining":
      return { state: "draining", word: `Draining, ${move.inflight} in flight` };
    case "stopping":
      return { state: "draining", word: "Stopping" };
  }
}

const results: Readonly<Record<NonNullable<DrainView["result"]>, StateWord>> = {
  complete: { state: "healthy", word: "Drained, nothing lost" },
  completeWithLosses: { state: "failed", word: "Drained with losses" },
  unconfirmed: { state: "unknown", word: "Drained, not confirmed" },
  cancelled: { state: "stopped", word: "Stopped" },
  failed: { state: "failed", word: "Failed" },
};

export function movedCount(drain: DrainView): number {
  return drain.moves.filter((move) => move.step === "stopped").length;
}

export function drainStateOf(drain: DrainView): StateWord {
  if (drain.result !== null) return results[drain.result];
  if (drain.moves.length === 0) return { state: "draining", word: "Draining" };
  return { state: "draining", word: `Draining, ${movedCount(drain)} of ${drain.moves.length} moved` };
}
