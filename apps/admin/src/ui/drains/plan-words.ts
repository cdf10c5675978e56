import type { DrainPreview } from "@llmgw/api";
import { counted } from "../data/format.ts";
import type { StateName } from "../state/states.tsx";

type PlannedMove = DrainPreview["moves"][number];

/** Models that nothing would serve at some moment of the drain, though something serves them now. */
export function modelsAtZero(plan: DrainPreview): readonly string[] {
  return plan.models
    .filter((model) => model.servingBefore > 0 && Math.min(model.servingLowest, model.servingAfter) === 0)
    .map((model) => model.modelId);
}

export function stuckMoves(plan: DrainPreview): readonly PlannedMove[] {
  return plan.moves.filter((move) => move.outcome === "cannot_move");
}

export interface PlanVerdict {
  readonly state: StateName;
  readonly words: string;
  readonly detail: string;
}

/** The plan in a sentence. `endsAt` is when the grace ends, e.g. `15:12 UTC`. */
export function planVerdict(plan: DrainPreview, node: string, endsAt: string): PlanVerdict {
  const stuck = stuckMoves(plan);
  const moving = plan.moves.filter((move) => move.outcome === "moves" || move.outcome === "waits").length;
  const total = plan.moves.length;
  const inflight =
    plan.inflight === 0
      ? "Nothing is in flight on it now."
      : `The ${counted(plan.inflight, "request")} in flight finish where they are.`;
  if (total === 0) {
    return {
      state: "healthy",
      words: `Nothing runs on ${node}.`,
      detail: "It is emptied at once and takes nothing new.",
    };
  }
  if (stuck.length === 0) {
    const words =
      moving === total ? allMove(total) : `${moving} of ${total} replicas move, the others serve nothing and stop.`;
    return { state: "draining", words, detail: `Each replacement serves before its original drains. ${inflight}` };
  }
  const names = stuck.map((move) => move.replicaId).join(", ");
  const cannot = `${names} cannot, and ${stuck.length === 1 ? "stops" : "stop"} at ${endsAt} with no replacement unless room appears.`;
  if (moving === 0) {
    const stops = `${names} ${stuck.length === 1 ? "stops" : "stop"} at ${endsAt} with no replacement unless room appears.`;
    return { state: "blocked", words: `Nothing can move now: ${stops}`, detail: inflight };
  }
  return {
    state: "blocked",
    words: `${moving} of ${counted(total, "replica")} ${moving === 1 ? "moves" : "move"}. ${cannot}`,
    detail: `Each replacement serves before its original drains. ${inflight}`,
  };
}

function allMove(total: number): string {
  if (total === 1) return "Its one replica moves, and nothing is interrupted.";
  return total === 2
    ? "Both replicas move, and nothing is interrupted."
    : `All ${total} replicas move, and nothing is interrupted.`;
}
