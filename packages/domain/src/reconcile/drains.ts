import type { Drain, DrainLoss } from "../cluster/drain.ts";
import type { Replica } from "../cluster/replica.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import type { Draft } from "./draft.ts";
import { nodeName } from "./facts.ts";
import { isTimeUp } from "./leaving.ts";
import { coveredShards, moveStatus } from "./move-status.ts";
import { sameReason } from "./same-reason.ts";

/** Keeps the record of every open drain's moves, and ends drains whose node is empty or was given up on. */
export function followDrains(draft: Draft): void {
  for (const drain of draft.drains()) {
    if (drain.endedAtMs !== null) continue;
    const here = coveredBy(draft, drain);
    followMoves(draft, drain, here);
    endDrain(draft, drain, here);
  }
}

function followMoves(draft: Draft, drain: Drain, here: readonly Replica[]): void {
  const named = draft.movesOf(drain.id).flatMap((move) => draft.replica(move.replicaId) ?? []);
  for (const replica of new Set([...here, ...named])) {
    const before = draft.move(drain.id, replica.id);
    const status = moveStatus(draft, drain, replica);
    const replacementId = status.replacementId ?? before?.replacementId ?? null;
    const lost = before?.lost ?? false;
    const same =
      before !== null &&
      before.step === status.step &&
      before.replacementId === replacementId &&
      sameReason(before.reason, status.reason);
    if (same) continue;
    const { step, reason: why } = status;
    draft.decide({
      kind: "set_move",
      drainId: drain.id,
      replicaId: replica.id,
      step,
      replacementId,
      reason: why,
      lost,
    });
  }
}

function endDrain(draft: Draft, drain: Drain, here: readonly Replica[]): void {
  const lostMoves = draft.movesOf(drain.id).filter((move) => move.lost);
  const losses: DrainLoss[] = lostMoves.map(({ replicaId }) => {
    const modelId = draft.replica(replicaId)?.modelId ?? "";
    return { replicaId, modelId, reason: reason("loss_no_replacement", { model: modelId }) };
  });
  if (here.length === 0) {
    const result = losses.length === 0 ? "complete" : "completeWithLosses";
    draft.decide({ kind: "end_drain", drainId: drain.id, result, losses });
    return;
  }
  if (!isTimeUp(drain, draft.nowMs)) return;
  const listed = new Set(losses.map((loss) => loss.replicaId));
  const lose = ({ id, modelId }: Replica, why: Reason): void => {
    if (!listed.has(id)) losses.push({ replicaId: id, modelId, reason: why });
  };
  const stuck = here.map((replica) => ({ replica, process: stuckOf(draft, drain, replica) }));
  if (stuck.every(({ process }) => process !== null)) {
    for (const { replica, process } of stuck) if (process !== null) lose(replica, process);
    draft.decide({ kind: "end_drain", drainId: drain.id, result: "failed", losses });
    return;
  }
  // Nobody can say whether a silent node's processes are gone: at its deadline, or by force, it ends unconfirmed.
  const node = draft.facts.nodes.get(drain.nodeId);
  if (node?.liveness !== "lost") return;
  if (here.some(({ phase }) => phase === "serving" || phase === "moving" || phase === "starting")) return;
  for (const replica of here) lose(replica, reason("loss_node_lost", { node: node.node.name }));
  draft.decide({ kind: "end_drain", drainId: drain.id, result: "unconfirmed", losses });
}

/** Replicas with a shard that the drain covers and whose process is not confirmed gone. */
function coveredBy(draft: Draft, drain: Drain): readonly Replica[] {
  return draft.replicas().filter((replica) => coveredShards(drain, replica).length > 0);
}

/** The process that survives every signal, where all that is left of the replica here has done so for long enough. */
function stuckOf(draft: Draft, drain: Drain, replica: Replica): Reason | null {
  const shards = coveredShards(drain, replica);
  for (const shard of shards) {
    const seen = draft.facts.observation(shard);
    const askedMs = shard.stopRequestedAtMs === null ? 0 : draft.nowMs - shard.stopRequestedAtMs;
    if (seen?.phase !== "stuck" || askedMs < draft.settings.stuckAfterMs) return null;
  }
  const [first] = shards;
  const pid = first === undefined ? 0 : (draft.facts.observation(first)?.pid ?? 0);
  return reason("loss_stuck_process", { node: nodeName(draft.facts, first?.nodeId ?? drain.nodeId), pid });
}
