import { isFlapping } from "../cluster/liveness.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import type { Draft } from "./draft.ts";
import type { NodeFacts } from "./facts.ts";

/**
 * Keeps new work away from nodes that do not hold still: those that go silent and come back again and again, and those
 * on which starts of several models fail ("black holes": they always look free). Both cordons end by themselves.
 */
export function followNodeCordons(draft: Draft): void {
  const failures = recentFailures(draft);
  for (const facts of draft.facts.nodes.values()) {
    followFlapping(draft, facts);
    followBlackHole(draft, facts, failures.get(facts.node.id) ?? new Map());
  }
}

function followFlapping(draft: Draft, { node }: NodeFacts): void {
  const { settings } = draft;
  const flaps = isFlapping(node, draft);
  const cordoned = node.cordons.some((cordon) => cordon.owner === "flapping");
  if (flaps === cordoned) return;
  if (!flaps) draft.decide({ kind: "lift_cordon", nodeId: node.id, owner: "flapping" });
  else {
    const returns = node.returnsAtMs.filter((atMs) => draft.nowMs - atMs <= settings.flapWindowMs).length;
    const why = reason("node_flapping", { node: node.name, returns, withinMs: settings.flapWindowMs });
    draft.decide({ kind: "set_cordon", nodeId: node.id, owner: "flapping", reason: why });
  }
}

function followBlackHole(draft: Draft, { node }: NodeFacts, failures: ReadonlyMap<string, number>): void {
  const cordon = node.cordons.find((found) => found.owner === "health" && found.gpuUuid === null);
  if (cordon !== undefined) {
    const isOver = draft.nowMs - cordon.sinceMs >= draft.settings.blackHoleCordonMs;
    if (isOver) draft.decide({ kind: "lift_cordon", nodeId: node.id, owner: "health" });
    return;
  }
  const why = blackHole(draft, node.name, failures);
  if (why !== null) draft.decide({ kind: "set_cordon", nodeId: node.id, owner: "health", reason: why });
}

function blackHole({ settings }: Draft, node: string, failures: ReadonlyMap<string, number>): Reason | null {
  const count = [...failures.values()].reduce((sum, one) => sum + one, 0);
  if (count < settings.blackHoleStarts || failures.size < settings.blackHoleModels) return null;
  const models = [...failures.keys()].sort((a, b) => (a < b ? -1 : 1)).join(", ");
  return reason("node_black_hole", { node, failures: count, models, withinMs: settings.failureWindowMs });
}

/** Failed starts within the window: node id → model id → how many. */
function recentFailures(draft: Draft): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const sinceMs = draft.nowMs - draft.settings.failureWindowMs;
  const found = new Map<string, Map<string, number>>();
  for (const { modelId, failures } of draft.replicas()) {
    for (const { nodeId, atMs } of failures) {
      if (atMs < sinceMs) continue;
      const models = found.get(nodeId) ?? new Map<string, number>();
      found.set(nodeId, models);
      models.set(modelId, (models.get(modelId) ?? 0) + 1);
    }
  }
  return found;
}
