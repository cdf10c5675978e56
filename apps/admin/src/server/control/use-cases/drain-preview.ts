import type { DrainPreview } from "@llmgw/api";
import { type PreviewedMove, previewDrain } from "@llmgw/domain";
import { sha256Hex } from "@llmgw/service";
import type { World } from "../../db/world.ts";
import { inflightOf, type ViewContext } from "../views/context.ts";
import { instantOf } from "../views/instants.ts";
import { placesInWords } from "../views/places.ts";
import { contextOf, type UseCaseDependencies } from "./dependencies.ts";

/**
 * What draining these nodes would do now, as the control loop's own planner sees it. `plan` is a stamp over what the
 * preview says, so that a run can tell whether it still holds.
 */
export function previewOf(
  world: World,
  question: {
    readonly nodeIds: readonly string[];
    readonly graceMs: number | undefined;
    readonly dependencies: Pick<UseCaseDependencies, "settings">;
  },
): DrainPreview {
  const { nodeIds, dependencies } = question;
  const settings = dependencies.settings.control;
  const graceMs = question.graceMs ?? settings.defaultGraceMs;
  const context = contextOf(world, dependencies);
  const forecast = previewDrain({ nodeIds, graceMs, snapshot: world.snapshot, settings });
  const moves = forecast.moves.map((move) => moveView(move, context));
  const said = forecast.moves.map(({ replicaId, outcome, target }) => [replicaId, outcome, target]);
  const nodes = nodeIds.toSorted((a, b) => a.localeCompare(b));
  return {
    plan: `plan_${sha256Hex(JSON.stringify([nodes, said])).slice(0, 32)}`,
    snapshotVersion: forecast.snapshotVersion,
    at: instantOf(forecast.atMs),
    graceMs,
    nodes: nodeIds.map((id) => ({ id, name: context.nodes.get(id)?.name ?? id })),
    moves,
    // What has no place stops at the grace's end and comes back only when something else changes.
    models: forecast.models.map(({ modelId, servingBefore, servingLowest }) => ({
      ...{ modelId, servingBefore, servingLowest },
      servingAfter: servingLowest,
    })),
    inflight: moves.reduce((sum, move) => sum + move.inflight, 0),
  };
}

function moveView(move: PreviewedMove, context: ViewContext): DrainPreview["moves"][number] {
  const replica = context.world.snapshot.replicas.find((one) => one.id === move.replicaId);
  return {
    replicaId: move.replicaId,
    modelId: move.modelId,
    nodeName: context.nodes.get(move.nodeId)?.name ?? move.nodeId,
    outcome: move.outcome,
    target: placesInWords(move.target, context),
    reason: move.reason,
    inflight: replica === undefined ? 0 : inflightOf(context, replica),
  };
}
