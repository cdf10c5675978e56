import { describeReason } from "../reasons/catalogue.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import type { PlacementContext } from "./context.ts";
import type { NodeEvaluation } from "./evaluate.ts";
import { placementRules } from "./record.ts";

/** Why nothing fits, told by the candidate that came nearest: the furthest rule reached, then the smallest shortage. */
export function noFit(nodes: readonly NodeEvaluation[], { model }: PlacementContext): Reason {
  let nearest: Reason | null = null;
  let rank: readonly [number, number] = [-1, 0];
  for (const { firstFailure } of nodes) {
    if (firstFailure === null) continue;
    const candidate = [placementRules.indexOf(firstFailure.rule), -shortage(firstFailure.reason)] as const;
    if (candidate[0] > rank[0] || (candidate[0] === rank[0] && candidate[1] > rank[1])) {
      nearest = firstFailure.reason;
      rank = candidate;
    }
  }
  if (nearest === null) return reason("no_nodes", { model: model.id });
  return reason("no_fit", {
    model: model.id,
    nodes: nodes.length,
    nearest: describeReason(nearest),
    nearestReason: nearest,
  });
}

/** How far a candidate is from fitting, comparable within one rule. GPUs weigh more than any amount of memory. */
function shortage(failure: Reason): number {
  switch (failure.code) {
    case "gpu_memory_short":
      return failure.params.needMib - failure.params.freeMib;
    case "too_few_free_gpus":
    case "too_few_gpus":
      return (failure.params.need - failure.params.found) * 1e9;
    case "gpu_held":
      return 1e9;
    case "gpu_memory_unknown":
      return 2e9;
    default:
      return 0;
  }
}
