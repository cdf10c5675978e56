import {
  type ClusterSnapshot,
  describeReason,
  type Model,
  modelRefusal,
  recheckPlacement,
  replicaRefusal,
  startedModel,
} from "@llmgw/domain";
import { toJson } from "../database.ts";
import { readModels } from "../read-models.ts";
import { readNodes } from "../read-nodes.ts";
import { readReplicas } from "../read-replicas.ts";
import { toDrain } from "../read-snapshot.ts";
import type { Write } from "../write.ts";
import type { CommitContext, Guarded } from "./commit-action.ts";
import { type ActionOf, loopAudit } from "./loop-audit.ts";
import { applyReplicaAction, readReplica } from "./replica-actions.ts";

/**
 * Pending or failed → starting, with allocations. The nodes it names are read again under the writer lock and judged by
 * the same rules that chose them: a cordon, a lost node, a sick GPU or memory taken meanwhile drops the action.
 */
export async function placeReplica(
  write: Write,
  action: ActionOf<"place_replica">,
  context: CommitContext,
): Promise<Guarded> {
  const { tx } = write;
  const replica = await readReplica(tx, action.replicaId);
  const refusal = replicaRefusal(replica, action);
  if (refusal !== null || replica === undefined) return refusal;
  const [stored] = await readModels(tx, [replica.modelId]);
  const changed = modelRefusal(stored, replica.modelId, action.modelRevision);
  if (changed !== null || stored === undefined) return changed;
  const model = startedModel(stored);
  const surroundings = await readSurroundings(write, action, { model, lease: context.lease });
  const planned = { modelId: model.id, replicaId: replica.id, shards: action.shards };
  const recheck = recheckPlacement(planned, surroundings, context.settings);
  if (!recheck.ok) return describeReason(recheck.reason);

  const { generation } = await applyReplicaAction(write, replica, action);
  await tx.replica.update({ where: { id: replica.id }, data: { record: toJson(action.record) }, select: { id: true } });
  await createShards(write, action, { generation, shareGpu: model.spec.resources.shareGpu });
  write.audit(
    loopAudit({
      verb: "replica.place",
      target: action.replicaId,
      before: { phase: action.fromPhase, generation: action.fromGeneration },
      after: { generation, shards: action.shards },
      cause: action.drainId,
    }),
  );
  return null;
}

async function createShards(
  write: Write,
  action: ActionOf<"place_replica">,
  { generation, shareGpu }: { generation: number; shareGpu: boolean },
): Promise<void> {
  const { replicaId } = action;
  await write.tx.shard.createMany({
    data: action.shards.map((shard) => ({
      replicaId,
      generation,
      rank: shard.rank,
      nodeId: shard.nodeId,
      memoryMibPerGpu: shard.memoryMibPerGpu,
      shareGpu,
      createdAt: new Date(write.nowMs),
    })),
  });
  await write.tx.allocation.createMany({
    data: action.shards.flatMap((shard) =>
      shard.gpuUuids.map((gpuUuid, ordinal) => ({
        replicaId,
        generation,
        rank: shard.rank,
        gpuUuid,
        ordinal,
        mib: shard.memoryMibPerGpu,
        shared: shareGpu,
      })),
    ),
  });
}

/** The part of the cluster that decides whether these shards fit: their nodes, and who holds anything there. */
async function readSurroundings(
  write: Write,
  action: ActionOf<"place_replica">,
  { model, lease }: { model: Model; lease: { takenAtMs: number } },
): Promise<ClusterSnapshot> {
  const { tx } = write;
  const nodeIds = [...new Set(action.shards.map((shard) => shard.nodeId))];
  const drains = await tx.drain.findMany({ where: { nodeId: { in: nodeIds }, endedAt: null } });
  return {
    version: write.nextVersion - 1,
    nowMs: write.nowMs,
    controlSinceMs: lease.takenAtMs,
    nodes: await readNodes(tx, nodeIds),
    models: [model],
    replicas: await readReplicas(tx, {
      OR: [{ id: action.replicaId }, { shards: { some: { nodeId: { in: nodeIds }, releasedAt: null } } }],
    }),
    drains: drains.map(toDrain),
    moves: [],
    routers: [],
  };
}
