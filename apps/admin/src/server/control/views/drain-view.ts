import type { DrainView, MoveView } from "@llmgw/api";
import type { Drain, Move, Replica } from "@llmgw/domain";
import { inflightOf, observationOf, type ViewContext } from "./context.ts";
import { instantOf, instantOrNull } from "./instants.ts";

/** A drain as it stands. Moves say what the control loop last decided of them, and the counts are of now. */
export function drainView(
  drain: Drain,
  moves: readonly Move[],
  lookups: { readonly context: ViewContext; readonly modelIds: ReadonlyMap<string, string> },
): DrainView {
  const { context, modelIds } = lookups;
  const { replicas } = context.world.snapshot;
  const isOpen = drain.endedAtMs === null;
  const waiting = moves.find((move) => move.step !== "stopped" && move.reason !== null);
  return {
    id: drain.id,
    nodeId: drain.nodeId,
    nodeName: context.nodes.get(drain.nodeId)?.name ?? drain.nodeId,
    by: drain.by,
    reason: drain.reason,
    startedAt: instantOf(drain.startedAtMs),
    deadlineAt: instantOf(drain.deadlineAtMs),
    forcedAt: instantOrNull(drain.forcedAtMs),
    forcedBy: drain.forcedBy,
    endedAt: instantOrNull(drain.endedAtMs),
    result: drain.result,
    losses: drain.losses.map((loss) => ({ ...loss })),
    moves: moves.map((move) => moveView(move, context, modelIds.get(move.replicaId) ?? "")),
    unconfirmedShards: isOpen
      ? replicas
          .flatMap((replica) => replica.shards)
          .filter((one) => one.nodeId === drain.nodeId && one.releasedAtMs === null).length
      : 0,
    waitingFor: isOpen ? (waiting?.reason ?? null) : null,
  };
}

function moveView(move: Move, context: ViewContext, modelId: string): MoveView {
  const { replicas } = context.world.snapshot;
  const original = replicas.find((replica) => replica.id === move.replicaId);
  const replacement = replicas.find((replica) => replica.id === move.replacementId);
  const head = replacement?.shards.find((shard) => shard.generation === replacement.generation && shard.rank === 0);
  const isOver = move.step === "stopped";
  return {
    replicaId: move.replicaId,
    modelId,
    replacementId: move.replacementId,
    target: replacement === undefined ? null : targetOf(replacement, context),
    step: move.step,
    stepAt: Object.fromEntries(Object.entries(move.stepAtMs).map(([step, ms]) => [step, instantOf(ms)])),
    reason: isOver ? null : move.reason,
    loadRatio: move.step === "loading" && head !== undefined ? (observationOf(context, head)?.loadRatio ?? null) : null,
    inflight: original === undefined || isOver ? 0 : inflightOf(context, original),
    lost: move.lost,
  };
}

/** `sim-2 GPU 1`, or several of these, where a replica is placed; null while it is not. */
export function targetOf(replica: Replica, context: ViewContext): string | null {
  const present = replica.shards.filter((shard) => shard.generation === replica.generation);
  if (present.length === 0) return null;
  return present
    .map((shard) => {
      const node = context.nodes.get(shard.nodeId);
      const gpus = shard.gpuUuids.map((uuid) => node?.gpus.find((gpu) => gpu.uuid === uuid)?.index ?? "?");
      return `${node?.name ?? shard.nodeId} GPU ${gpus.join(", ")}`;
    })
    .join(" + ");
}
