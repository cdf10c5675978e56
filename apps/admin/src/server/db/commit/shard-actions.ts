import { toJson } from "../database.ts";
import type { Write } from "../write.ts";
import type { Guarded } from "./commit-action.ts";
import { type ActionOf, loopAudit } from "./loop-audit.ts";

/** Keeps the first and the latest end of the shard. */
export async function recordFailure(write: Write, action: ActionOf<"record_failure">): Promise<Guarded> {
  const { tx, nowMs } = write;
  const { replicaId, generation, rank, nodeId } = action;
  const running = await tx.shard.count({ where: { replicaId, generation, rank, releasedAt: null } });
  if (running === 0) return `shard ${replicaId}/${rank} of generation ${generation} is released already`;
  const known = await tx.shardFailure.findMany({ where: { replicaId, rank } });
  const failure = { generation, nodeId, at: new Date(nowMs), exit: toJson(action.exit) };
  if (!known.some((one) => one.which === "first")) {
    await tx.shardFailure.create({ data: { replicaId, rank, which: "first", ...failure } });
  }
  await tx.shardFailure.upsert({
    where: { replicaId_rank_which: { replicaId, rank, which: "latest" } },
    create: { replicaId, rank, which: "latest", ...failure },
    update: failure,
  });
  write.audit(
    loopAudit({
      verb: "shard.fail",
      target: `${replicaId}/${rank}`,
      after: { generation, category: action.exit.category, cause: action.exit.cause },
      cause: action.drainId,
    }),
  );
  return null;
}

export async function stopShard(write: Write, action: ActionOf<"stop_shard">): Promise<Guarded> {
  const { replicaId, generation, rank } = action;
  const { count } = await write.tx.shard.updateMany({
    where: { replicaId, generation, rank, stopRequestedAt: null, releasedAt: null },
    data: { stopRequestedAt: new Date(write.nowMs) },
  });
  if (count !== 1) return `shard ${replicaId}/${rank} is stopping or gone already`;
  write.changed();
  write.audit(
    loopAudit({ verb: "shard.stop", target: `${replicaId}/${rank}`, after: { generation }, cause: action.drainId }),
  );
  return null;
}

/** Its GPUs are free from here on. */
export async function releaseShard(write: Write, action: ActionOf<"release_shard">): Promise<Guarded> {
  const { replicaId, generation, rank } = action;
  const releasedAt = new Date(write.nowMs);
  const { count } = await write.tx.shard.updateMany({
    where: { replicaId, generation, rank, releasedAt: null },
    data: { releasedAt },
  });
  if (count !== 1) return `shard ${replicaId}/${rank} is released already`;
  await write.tx.allocation.updateMany({
    where: { replicaId, generation, rank, releasedAt: null },
    data: { releasedAt },
  });
  write.changed();
  write.audit(
    loopAudit({ verb: "shard.release", target: `${replicaId}/${rank}`, after: { generation }, cause: action.drainId }),
  );
  return null;
}
