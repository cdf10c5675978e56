import type { DrainView, MoveView } from "@llmgw/api";
import { type Drain, drainView as domainDrainView, drainScope, type Move, type MoveProgress } from "@llmgw/domain";
import type { ViewContext } from "./context.ts";
import { instantOf, instantOrNull } from "./instants.ts";
import { placesInWords } from "./places.ts";

/** A drain as it stands, however old: its moves are given with it, since the snapshot holds recent ones only. */
export function drainView(
  drain: Drain,
  moves: readonly Move[],
  lookups: { readonly context: ViewContext; readonly modelIds: ReadonlyMap<string, string> },
): DrainView {
  const { context, modelIds } = lookups;
  const { settings, world } = context;
  const others = world.snapshot.moves.filter((move) => move.drainId !== drain.id);
  const snapshot = { ...world.snapshot, moves: [...others, ...moves] };
  const progress = domainDrainView({ drain, snapshot, settings });
  const isOpen = drain.endedAtMs === null;
  return {
    id: drain.id,
    nodeId: drain.nodeId,
    nodeName: context.nodes.get(drain.nodeId)?.name ?? drain.nodeId,
    scope: drainScope(drain),
    gpuUuid: drain.gpuUuid,
    replicaId: drain.replica?.id ?? null,
    by: drain.by,
    reason: drain.reason,
    startedAt: instantOf(drain.startedAtMs),
    deadlineAt: instantOf(drain.deadlineAtMs),
    forcedAt: instantOrNull(drain.forcedAtMs),
    forcedBy: drain.forcedBy,
    endedAt: instantOrNull(drain.endedAtMs),
    result: drain.result,
    surges: isOpen ? progress.surges.map((surge) => ({ ...surge })) : [],
    losses: drain.losses.map((loss) => ({ ...loss })),
    moves: progress.moves.map((move) => moveView(move, context, modelIds)),
    unconfirmedShards: isOpen || drain.result === "unconfirmed" ? progress.unconfirmedShards : 0,
    waitingFor: isOpen ? progress.waitingFor : null,
  };
}

function moveView(move: MoveProgress, context: ViewContext, modelIds: ReadonlyMap<string, string>): MoveView {
  const replacement = context.world.snapshot.replicas.find((one) => one.id === move.replacementId);
  const places = replacement?.shards.filter((shard) => shard.generation === replacement.generation) ?? [];
  return {
    replicaId: move.replicaId,
    modelId: move.modelId === "" ? (modelIds.get(move.replicaId) ?? "") : move.modelId,
    replacementId: move.replacementId,
    target: placesInWords(places, context),
    step: move.step,
    stepForMs: move.stepForMs,
    nextStep: move.nextStep,
    deadlineAt: instantOrNull(move.deadlineAtMs),
    stepAt: Object.fromEntries(Object.entries(move.stepAtMs).map(([step, ms]) => [step, instantOf(ms)])),
    reason: move.reason,
    loadRatio: move.loadRatio,
    inflight: move.inflight,
    lost: move.lost,
  };
}
