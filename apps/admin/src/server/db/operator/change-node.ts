import type { AuditEntry } from "../audit.ts";
import type { Database } from "../database.ts";
import { readWorldIn, type World } from "../world.ts";
import { type Write, write } from "../write.ts";

export type NodeChange =
  /** It is gone for good, until it is heard again: what runs there is replaced. */
  | { readonly kind: "confirm_lost" }
  /** GPUs that it does not report any more are no longer its own. */
  | { readonly kind: "accept_inventory" }
  /** It leaves the cluster, with its cordons and GPUs. What it still runs is stopped if it ever returns. */
  | { readonly kind: "remove" };

export type NodeChanged =
  | { readonly kind: "done"; readonly what: readonly string[] }
  | { readonly kind: "gone" }
  | { readonly kind: "refused"; readonly why: string };

/**
 * Changes a node's place in the cluster, in one transaction with its audit row. `mayRun` sees the cluster as it is then
 * and says why not, in words; null when it may.
 */
export async function changeNode(
  database: Database,
  order: { readonly nodeId: string; readonly change: NodeChange; readonly mayRun: (world: World) => string | null },
  audit: (what: readonly string[]) => AuditEntry,
): Promise<NodeChanged> {
  const { nodeId, change, mayRun } = order;
  const written = await write(database, async (transaction): Promise<NodeChanged> => {
    const node = await transaction.tx.node.findUnique({ where: { id: nodeId }, select: { removedAt: true } });
    if (node === null || node.removedAt !== null) return { kind: "gone" };
    const why = mayRun(await readWorldIn(transaction.tx));
    if (why !== null) return { kind: "refused", why };
    const what = await carryOut(transaction, nodeId, change);
    transaction.audit(audit(what));
    transaction.changed();
    return { kind: "done", what };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

async function carryOut(transaction: Write, nodeId: string, change: NodeChange): Promise<readonly string[]> {
  const { tx } = transaction;
  const now = new Date(transaction.nowMs);
  switch (change.kind) {
    case "confirm_lost":
      await tx.node.update({ where: { id: nodeId }, data: { lostConfirmedAt: now }, select: { id: true } });
      return [];
    case "accept_inventory": {
      const missing = await tx.gpu.findMany({ where: { nodeId, missingSince: { not: null } }, select: { uuid: true } });
      const uuids = missing.map((gpu) => gpu.uuid);
      await tx.gpu.deleteMany({ where: { uuid: { in: uuids } } });
      await tx.cordon.deleteMany({ where: { nodeId, gpuUuid: { in: uuids } } });
      return uuids;
    }
    case "remove":
      return remove(transaction, nodeId);
  }
}

/** Nobody will confirm any more that its processes are gone: what it held is given back with it. */
async function remove({ tx, nowMs }: Write, nodeId: string): Promise<readonly string[]> {
  const now = new Date(nowMs);
  const held = await tx.shard.findMany({ where: { nodeId, releasedAt: null } });
  for (const { replicaId, generation, rank } of held) {
    const key = { replicaId, generation, rank, releasedAt: null };
    await tx.allocation.updateMany({ where: key, data: { releasedAt: now } });
    await tx.shard.updateMany({ where: key, data: { releasedAt: now, stopRequestedAt: now } });
  }
  await tx.drain.updateMany({ where: { nodeId, endedAt: null }, data: { endedAt: now, result: "unconfirmed" } });
  await tx.cordon.deleteMany({ where: { nodeId } });
  await tx.gpu.deleteMany({ where: { nodeId } });
  await tx.node.update({ where: { id: nodeId }, data: { removedAt: now, observations: [] }, select: { id: true } });
  return held.map(({ replicaId, rank }) => `${replicaId}/${rank}`);
}
