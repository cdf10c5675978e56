import type { DrainPreview } from "@llmgw/api";
import type { AssumedShard, PlacementRecord } from "@llmgw/domain";
import { type ClusterSnapshot, type Model, place, type Replica, type ShardPlacement } from "@llmgw/domain";
import { sha256Hex } from "@llmgw/service";
import type { World } from "../../db/world.ts";
import { inflightOf, type ViewContext } from "../views/context.ts";
import { instantOf } from "../views/instants.ts";
import { contextOf, type UseCaseDependencies } from "./dependencies.ts";

type MovePreview = DrainPreview["moves"][number];

/** Replicas that go anyway, so that what they hold will be free. */
const going: ReadonlySet<Replica["phase"]> = new Set(["draining", "stopping"]);
const serves: ReadonlySet<Replica["phase"]> = new Set(["serving", "moving"]);

/**
 * What draining these nodes would do now: the placement that the control loop uses, run ahead with the nodes excluded
 * and the moves applied in their order. Its `plan` is a stamp over what it says, so a run can tell that it still holds.
 */
export function previewOf(
  world: World,
  question: {
    readonly nodeIds: readonly string[];
    readonly graceMs: number | undefined;
    readonly dependencies: Pick<UseCaseDependencies, "settings">;
  },
): DrainPreview {
  const { nodeIds, graceMs, dependencies } = question;
  const context = contextOf(world, dependencies);
  const { snapshot } = world;
  const leaving = snapshot.replicas
    .filter((replica) => !going.has(replica.phase) && holdsAny(replica, nodeIds))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const placed: AssumedShard[] = [];
  const moves = leaving.map((replica) => previewMove(replica, { context, nodeIds, placed }));
  const models = previewModels(snapshot, leaving, moves);
  const said = moves.map(({ replicaId, outcome, target }) => [replicaId, outcome, target]);
  return {
    plan: `plan_${sha256Hex(JSON.stringify([nodeIds.toSorted((a, b) => a.localeCompare(b)), said])).slice(0, 32)}`,
    snapshotVersion: snapshot.version,
    at: instantOf(snapshot.nowMs),
    graceMs: graceMs ?? dependencies.settings.control.defaultGraceMs,
    nodes: nodeIds.map((id) => ({ id, name: context.nodes.get(id)?.name ?? id })),
    moves,
    models,
    inflight: moves.reduce((sum, move) => sum + move.inflight, 0),
  };
}

function previewMove(
  replica: Replica,
  about: {
    readonly context: ViewContext;
    readonly nodeIds: readonly string[];
    /** Grows by each move that finds a place. */
    readonly placed: AssumedShard[];
  },
): MovePreview {
  const { context, nodeIds, placed } = about;
  const { snapshot } = context.world;
  const here = replica.shards.find((shard) => nodeIds.includes(shard.nodeId) && shard.releasedAtMs === null);
  const base = {
    replicaId: replica.id,
    modelId: replica.modelId,
    nodeName: context.nodes.get(here?.nodeId ?? "")?.name ?? "",
    inflight: inflightOf(context, replica),
  };
  const model = snapshot.models.find((one) => one.id === replica.modelId);
  if (model === undefined || model.deletedAtMs !== null) {
    return { ...base, outcome: "stops_at_once", target: null, reason: replica.reason };
  }
  const ask = (freed: ReadonlySet<string>): PlacementRecord =>
    place({
      model,
      replicaId: null,
      snapshot,
      settings: context.settings,
      exclude: new Set(nodeIds),
      assume: { placed, freed },
    });
  const record = ask(new Set());
  const target = record.outcome.kind === "placed" ? targetOf(record.outcome.shards, context) : null;
  if (record.outcome.kind === "placed") placed.push(...assumed(record.outcome.shards, replica, model));
  const reason = record.outcome.kind === "no_fit" ? record.outcome.reason : null;
  if (!serves.has(replica.phase)) return { ...base, outcome: "stops_at_once", target, reason };
  if (target !== null) return { ...base, outcome: "moves", target, reason: null };
  const later = ask(new Set(snapshot.replicas.filter((one) => going.has(one.phase)).map((one) => one.id)));
  return { ...base, outcome: later.outcome.kind === "placed" ? "waits" : "cannot_move", target: null, reason };
}

function assumed(shards: readonly ShardPlacement[], original: Replica, model: Model): AssumedShard[] {
  return shards.map((shard) => ({
    ...shard,
    replicaId: `replacement of ${original.id}`,
    modelId: model.id,
    shareGpu: model.spec.resources.shareGpu,
  }));
}

function targetOf(shards: readonly ShardPlacement[], { nodes }: ViewContext): string {
  return shards
    .map(({ nodeId, gpuUuids }) => {
      const node = nodes.get(nodeId);
      const indices = gpuUuids.map((uuid) => node?.gpus.find((gpu) => gpu.uuid === uuid)?.index ?? "?");
      return `${node?.name ?? nodeId} GPU ${indices.join(", ")}`;
    })
    .join(" + ");
}

/** A move keeps its model's count, since the replacement serves first; what cannot move ends at the grace. */
function previewModels(
  snapshot: ClusterSnapshot,
  leaving: readonly Replica[],
  moves: readonly MovePreview[],
): DrainPreview["models"] {
  const ids = [...new Set(leaving.map((replica) => replica.modelId))].sort((a, b) => a.localeCompare(b));
  return ids.map((modelId) => {
    const servingBefore = snapshot.replicas.filter((one) => one.modelId === modelId && serves.has(one.phase)).length;
    const lost = moves.filter(
      (move) => move.modelId === modelId && (move.outcome === "cannot_move" || move.outcome === "waits"),
    ).length;
    const stuck = moves.filter((move) => move.modelId === modelId && move.outcome === "cannot_move").length;
    return { modelId, servingBefore, servingLowest: servingBefore - lost, servingAfter: servingBefore - stuck };
  });
}

function holdsAny(replica: Replica, nodeIds: readonly string[]): boolean {
  return replica.shards.some((shard) => nodeIds.includes(shard.nodeId) && shard.releasedAtMs === null);
}
