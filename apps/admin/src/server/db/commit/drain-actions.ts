import { drainCovers } from "@llmgw/domain";
import { fromJson, toJson } from "../database.ts";
import { Prisma } from "../generated/client.ts";
import { readReplicas } from "../read-replicas.ts";
import { toDrain } from "../read-snapshot.ts";
import type { Write } from "../write.ts";
import type { Guarded } from "./commit-action.ts";
import { type ActionOf, loopAudit } from "./loop-audit.ts";

/** Moves a replica's way off its node one step on, or says anew why it waits. Only a new step is audited. */
export async function setMove(write: Write, action: ActionOf<"set_move">): Promise<Guarded> {
  const { tx, nowMs } = write;
  const { drainId, replicaId } = action;
  const drain = await tx.drain.findUnique({ where: { id: drainId } });
  if (drain === null || drain.endedAt !== null) return `drain ${drainId} is over`;
  const replica = await tx.replica.findUnique({ where: { id: replicaId }, select: { modelId: true } });
  if (replica === null) return `there is no replica ${replicaId}`;
  const before = await tx.move.findUnique({ where: { drainId_replicaId: { drainId, replicaId } } });
  const stepAt = { ...fromJson<Record<string, number>>(before?.stepAt ?? {}) };
  const steps = before?.step !== action.step;
  if (steps) stepAt[action.step] = nowMs;
  const data = {
    replacementId: action.replacementId,
    step: action.step,
    stepAt: toJson(stepAt),
    reason: action.reason === null ? Prisma.DbNull : toJson(action.reason),
    lost: action.lost,
  };
  await tx.move.upsert({
    where: { drainId_replicaId: { drainId, replicaId } },
    create: { drainId, replicaId, modelId: replica.modelId, ...data },
    update: data,
  });
  if (steps) {
    write.audit(
      loopAudit({
        verb: "drain.step",
        target: replicaId,
        before: before === null ? null : { step: before.step },
        after: { step: action.step, replacement: action.replacementId, lost: action.lost },
        cause: drainId,
      }),
    );
  }
  return null;
}

/** The drain has its result. Its cordon stays: a drained node takes nothing until somebody lifts that. */
export async function endDrain(write: Write, action: ActionOf<"end_drain">): Promise<Guarded> {
  const { tx } = write;
  const drain = await tx.drain.findUnique({ where: { id: action.drainId } });
  if (drain === null || drain.endedAt !== null) return `drain ${action.drainId} is over already`;
  if (action.result !== "unconfirmed" && action.result !== "failed") {
    const replicas = await readReplicas(tx, { shards: { some: { nodeId: drain.nodeId, releasedAt: null } } });
    const covered = toDrain(drain);
    const left = replicas
      .flatMap((replica) => replica.shards)
      .filter((shard) => shard.releasedAtMs === null && drainCovers(covered, shard)).length;
    if (left > 0) return `${left} shards that drain ${action.drainId} covers are not confirmed gone`;
  }
  await tx.drain.update({
    where: { id: action.drainId },
    data: { endedAt: new Date(write.nowMs), result: action.result, losses: toJson(action.losses) },
  });
  write.changed();
  write.audit(
    loopAudit({
      verb: "drain.end",
      target: action.drainId,
      after: { result: action.result, losses: action.losses },
      cause: action.drainId,
    }),
  );
  return null;
}
