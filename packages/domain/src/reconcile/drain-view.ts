import { type Drain, type Move, type MoveStep, moveSteps } from "../cluster/drain.ts";
import type { Liveness } from "../cluster/node.ts";
import type { Replica } from "../cluster/replica.ts";
import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";
import type { Reason } from "../reasons/reason.ts";
import { type Draft, headShard, openDraft } from "./draft.ts";
import { coveredShards, moveStatus } from "./move-status.ts";
import { surgeOf } from "./surge.ts";

/** One replica's way off the node, as of now. */
export interface MoveProgress {
  readonly replicaId: string;
  readonly modelId: string;
  readonly replacementId: string | null;
  readonly step: MoveStep;
  /** How long it has been in this step; null where the control loop has not recorded it yet. */
  readonly stepForMs: number | null;
  readonly stepAtMs: Move["stepAtMs"];
  /** What it waits for, with the numbers of now; null while it advances or is over. */
  readonly reason: Reason | null;
  /** The step that follows; null when it is over. */
  readonly nextStep: MoveStep | null;
  /** When its original stops taking requests at the latest; null once it has. */
  readonly deadlineAtMs: number | null;
  /** 0..1 while the replacement loads and its engine says so. */
  readonly loadRatio: number | null;
  /** Requests in flight on the original, over all live routers. */
  readonly inflight: number;
  readonly lost: boolean;
}

export interface DrainProgress {
  readonly drain: Drain;
  /** Whether the node is heard of; `lost` means that nothing there can be confirmed. */
  readonly liveness: Liveness;
  readonly moves: readonly MoveProgress[];
  readonly counts: Readonly<Record<MoveStep, number>>;
  /** Models whose moves run more at a time than their spec says, because of the deadline. */
  readonly surges: readonly { readonly modelId: string; readonly allowed: number; readonly maxSurge: number }[];
  /** Processes on the node that its agent has not confirmed gone. 0 once the drain has ended as complete. */
  readonly unconfirmedShards: number;
  /** What the drain as a whole waits for: the reason of its least advanced move. */
  readonly waitingFor: Reason | null;
}

export interface DrainQuestion {
  readonly drain: Drain;
  readonly snapshot: ClusterSnapshot;
  readonly settings: ControlSettings;
}

/**
 * A drain as it stands: every move with its step, reason, age, next step and deadline. An open drain is judged from the
 * snapshot's facts by the same functions as the control loop's; an ended one is told as it was recorded.
 */
export function drainView({ drain, snapshot, settings }: DrainQuestion): DrainProgress {
  const draft = openDraft(snapshot, settings);
  const replicas = new Map(snapshot.replicas.map((replica) => [replica.id, replica]));
  const unreleased = draft.replicas().flatMap((replica) => coveredShards(drain, replica));
  const ids = new Set(draft.movesOf(drain.id).map((move) => move.replicaId));
  if (drain.endedAtMs === null) for (const shard of unreleased) ids.add(shard.replicaId);
  const moves = [...ids]
    .map((id) => progress(draft, drain, { id, replica: replicas.get(id) ?? null }))
    .sort((a, b) => moveSteps.indexOf(a.step) - moveSteps.indexOf(b.step) || (a.replicaId < b.replicaId ? -1 : 1));
  const counts = { queued: 0, placing: 0, loading: 0, replacementServing: 0, draining: 0, stopping: 0, stopped: 0 };
  for (const move of moves) counts[move.step] += 1;
  return {
    drain,
    liveness: draft.facts.nodes.get(drain.nodeId)?.liveness ?? "lost",
    moves,
    counts,
    surges: drain.endedAtMs === null ? surgesOf(draft, moves) : [],
    unconfirmedShards: unreleased.length,
    waitingFor: moves.find((move) => move.reason !== null)?.reason ?? null,
  };
}

function surgesOf(draft: Draft, moves: readonly MoveProgress[]): DrainProgress["surges"] {
  return [...new Set(moves.map((move) => move.modelId))].flatMap((modelId) => {
    const model = draft.facts.models.get(modelId);
    const surge = model === undefined ? null : surgeOf(draft, model);
    return surge === null || surge.allowed <= surge.maxSurge ? [] : [{ modelId, ...surge }];
  });
}

function progress(
  draft: Draft,
  drain: Drain,
  { id, replica }: { readonly id: string; readonly replica: Replica | null },
): MoveProgress {
  const stored = draft.move(drain.id, id);
  const live = drain.endedAtMs === null && replica !== null ? moveStatus(draft, drain, replica) : null;
  const step = live?.step ?? stored?.step ?? "queued";
  const replacementId = live?.replacementId ?? stored?.replacementId ?? null;
  const sinceMs = stored?.stepAtMs[step];
  const isOver = step === "stopped" || drain.endedAtMs !== null;
  const before = moveSteps.indexOf(step) < moveSteps.indexOf("draining");
  return {
    replicaId: id,
    modelId: replica?.modelId ?? "",
    replacementId,
    step,
    stepForMs: sinceMs === undefined ? null : Math.max(0, draft.nowMs - sinceMs),
    stepAtMs: stored?.stepAtMs ?? {},
    reason: isOver ? null : live === null ? (stored?.reason ?? null) : live.reason,
    nextStep: isOver ? null : (moveSteps[moveSteps.indexOf(step) + 1] ?? null),
    deadlineAtMs: before && !isOver ? drain.deadlineAtMs : null,
    loadRatio: step === "loading" && replacementId !== null ? loadRatioOf(draft, replacementId) : null,
    inflight: replica === null ? 0 : inflightOf(draft, replica),
    lost: stored?.lost ?? false,
  };
}

function loadRatioOf(draft: Draft, replicaId: string): number | null {
  const replacement = draft.replica(replicaId);
  const head = replacement === null ? null : headShard(replacement);
  return head === null ? null : (draft.facts.observation(head)?.loadRatio ?? null);
}

function inflightOf({ facts }: Draft, { id, generation }: Replica): number {
  return facts.liveRouters.reduce((sum, { says }) => sum + (says(id, generation)?.inflight ?? 0), 0);
}
