import type { DrainPreview } from "@llmgw/api";
import { type DrainTarget, type PreviewedMove, previewDrain } from "@llmgw/domain";
import { sha256Hex } from "@llmgw/service";
import type { World } from "../../db/world.ts";
import { inflightOf, type ViewContext } from "../views/context.ts";
import { instantOf, instantOrNull } from "../views/instants.ts";
import { placesInWords } from "../views/places.ts";
import { contextOf, type UseCaseDependencies } from "./dependencies.ts";
import { usualGraceMs } from "./drain-targets.ts";

/**
 * What draining these together would do now, as the control loop's own planner sees it. `plan` is a stamp over what the
 * preview says, so that a run can tell whether it still holds.
 */
export function previewOf(
  world: World,
  question: {
    readonly targets: readonly DrainTarget[];
    readonly graceMs: number | undefined;
    readonly dependencies: Pick<UseCaseDependencies, "settings">;
  },
): DrainPreview {
  const { targets, dependencies } = question;
  const settings = dependencies.settings.control;
  const context = contextOf(world, dependencies);
  const graceMs = question.graceMs ?? usualGraceMs(context, targets, settings);
  const forecast = previewDrain({ targets, graceMs, snapshot: world.snapshot, settings });
  const moves = forecast.moves.map((move) => moveView(move, context));
  const said = forecast.moves.map(({ replicaId, outcome, target }) => [replicaId, outcome, target]);
  const scopes = targets.map(({ nodeId, gpuUuid, replica }) => replica?.id ?? gpuUuid ?? nodeId);
  const named = scopes.toSorted((a, b) => (a < b ? -1 : 1));
  const nodeIds = [...new Set(targets.map((target) => target.nodeId))];
  return {
    plan: `plan_${sha256Hex(JSON.stringify([named, said])).slice(0, 32)}`,
    snapshotVersion: forecast.snapshotVersion,
    at: instantOf(forecast.atMs),
    graceMs,
    nodes: nodeIds.map((id) => ({ id, name: context.nodes.get(id)?.name ?? id })),
    moves,
    // What has no place stops at the grace's end and comes back only when something else changes.
    models: forecast.models.map(({ desired: _desired, ...model }) => ({ ...model, servingAfter: model.servingLowest })),
    neededMs: forecast.neededMs,
    sufficientGraceMs: forecast.sufficientGraceMs,
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
    round: move.round,
    gapFrom: instantOrNull(move.gapFromMs),
    inflight: replica === undefined ? 0 : inflightOf(context, replica),
  };
}
