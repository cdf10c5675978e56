import {
  applyToReplica,
  createdReplica,
  type Replica,
  replicaRefusal,
  takesVersion,
  withLoadTime,
} from "@llmgw/domain";
import { dateOrNull, fromJson, type Tx, toJson } from "../database.ts";
import { Prisma } from "../generated/client.ts";
import { readReplicas } from "../read-replicas.ts";
import type { Write } from "../write.ts";
import type { Guarded } from "./commit-action.ts";
import { type ActionOf, loopAudit } from "./loop-audit.ts";

export async function createReplica(write: Write, action: ActionOf<"create_replica">): Promise<Guarded> {
  const { tx } = write;
  const model = await tx.model.findUnique({ where: { id: action.modelId } });
  if (model === null || model.deletedAt !== null) return `model ${action.modelId} is gone`;
  if ((await tx.replica.count({ where: { id: action.replicaId } })) > 0) return `${action.replicaId} was used before`;
  const replica = createdReplica(action, { nowMs: write.nowMs, version: write.nextVersion });
  await tx.replica.create({
    data: { id: replica.id, modelId: replica.modelId, createdAt: new Date(replica.createdAtMs), ...columns(replica) },
  });
  write.audit(
    loopAudit({
      verb: "replica.create",
      target: action.replicaId,
      after: { model: action.modelId, revision: action.modelRevision, replaces: action.replaces },
      cause: action.drainId,
    }),
  );
  return null;
}

/** Not audited: it explains, it changes nothing. */
export async function explainPending(write: Write, action: ActionOf<"explain_pending">): Promise<Guarded> {
  const { count } = await write.tx.replica.updateMany({
    where: { id: action.replicaId, phase: "pending" },
    data: { reason: toJson(action.reason), record: toJson(action.record) },
  });
  return count === 1 ? null : `${action.replicaId} is not pending any more`;
}

export async function setPhase(write: Write, action: ActionOf<"set_phase">): Promise<Guarded> {
  const replica = await readReplica(write.tx, action.replicaId);
  const refusal = replicaRefusal(replica, action);
  if (refusal !== null || replica === undefined) return refusal;
  await applyReplicaAction(write, replica, action);
  if (action.from === "starting" && action.to === "serving") await rememberLoad(write, replica);
  write.audit(
    loopAudit({
      verb: `replica.${action.to}`,
      target: action.replicaId,
      before: { phase: action.from },
      after: { phase: action.to, generation: action.generation, reason: action.reason },
      cause: action.drainId,
    }),
  );
  return null;
}

/** How long this start took is what the next drain of the model reckons with. */
async function rememberLoad({ tx, nowMs }: Write, replica: Replica): Promise<void> {
  const { loadTimes } = await tx.model.findUniqueOrThrow({
    where: { id: replica.modelId },
    select: { loadTimes: true },
  });
  const next = withLoadTime(fromJson(loadTimes), nowMs - replica.phaseSinceMs);
  await tx.model.update({ where: { id: replica.modelId }, data: { loadTimes: toJson(next) }, select: { id: true } });
}

export async function offerEndpoint(write: Write, action: ActionOf<"offer_endpoint">): Promise<Guarded> {
  const replica = await readReplica(write.tx, action.replicaId);
  const refusal = replicaRefusal(replica, action);
  if (refusal !== null || replica === undefined) return refusal;
  await applyReplicaAction(write, replica, action);
  write.audit(
    loopAudit({
      verb: "replica.offer",
      target: action.replicaId,
      before: { url: replica.url },
      after: { generation: action.generation, url: action.url },
      cause: action.drainId,
    }),
  );
  return null;
}

/** Not audited: it keeps what routers and agents said, which the next change of phase rests on. */
export async function setProof(write: Write, action: ActionOf<"set_proof">): Promise<Guarded> {
  const { count } = await write.tx.replica.updateMany({
    where: { id: action.replicaId, generation: action.generation },
    data: {
      provenSince: dateOrNull(action.provenSinceMs),
      routersQuietSince: dateOrNull(action.routersQuietSinceMs),
    },
  });
  return count === 1 ? null : `generation ${action.generation} of ${action.replicaId} is over`;
}

export async function readReplica(tx: Tx, id: string): Promise<Replica | undefined> {
  return (await readReplicas(tx, { id }))[0];
}

type ReplicaAction = ActionOf<"set_phase" | "offer_endpoint" | "place_replica">;

/** Writes what the domain says that the action does to a replica's own row, and takes the version if it takes one. */
export async function applyReplicaAction(write: Write, replica: Replica, action: ReplicaAction): Promise<Replica> {
  // Whether its GPUs are shared is kept with each shard, which `placeReplica` writes itself.
  const at = { nowMs: write.nowMs, version: write.nextVersion, shareGpu: false };
  const next = applyToReplica(replica, action, at);
  await write.tx.replica.update({ where: { id: next.id }, data: columns(next) });
  if (takesVersion(action)) write.changed();
  return next;
}

function columns(replica: Replica) {
  return {
    modelRevision: replica.modelRevision,
    generation: replica.generation,
    phase: replica.phase,
    phaseSince: new Date(replica.phaseSinceMs),
    reason: replica.reason === null ? Prisma.DbNull : toJson(replica.reason),
    replaces: replica.replaces,
    drainId: replica.drainId,
    stateVersion: BigInt(replica.stateVersion),
    url: replica.url,
    offeredAt: dateOrNull(replica.offeredAtMs),
    provenSince: dateOrNull(replica.provenSinceMs),
    routersQuietSince: dateOrNull(replica.routersQuietSinceMs),
    failures: toJson(replica.failures),
    notBefore: dateOrNull(replica.notBeforeMs),
  };
}
