import { newId } from "@llmgw/service";
import type { AuditEntry } from "../audit.ts";
import type { Database } from "../database.ts";
import { readWorldIn, type World } from "../world.ts";
import { type Write, write } from "../write.ts";

export interface AvailabilityOrder {
  readonly nodeId: string;
  readonly by: string;
  readonly reason: string;
  readonly change:
    | { readonly kind: "cordon"; readonly gpuUuid: string | null }
    /** Of one GPU, or with null of the node and all its GPUs, which ends an open drain too. */
    | { readonly kind: "uncordon"; readonly gpuUuid: string | null }
    | {
        readonly kind: "drain";
        readonly graceMs: number | null;
        readonly defaultGraceMs: number;
        readonly force: boolean;
      };
}

export type AvailabilityResult =
  | { readonly kind: "done"; readonly effect: Effect; readonly drainId: string | null }
  | { readonly kind: "gone" }
  | { readonly kind: "refused"; readonly world: World };

export type Effect =
  | "cordoned"
  | "already_cordoned"
  | "uncordoned"
  | "not_cordoned"
  | "drain_started"
  | "drain_shortened"
  | "drain_forced"
  | "drain_unchanged"
  | "drain_cancelled";

/**
 * Carries an operator's order out in one transaction with its audit row. `mayRun` sees the cluster as it is then; when
 * it says no, nothing is written and what it saw is handed back.
 */
export async function setAvailability(
  database: Database,
  order: AvailabilityOrder,
  options: {
    readonly audit: (effect: Effect, drainId: string | null) => AuditEntry;
    readonly mayRun: ((world: World) => boolean) | null;
  },
): Promise<AvailabilityResult> {
  const written = await write(database, async (transaction): Promise<AvailabilityResult> => {
    const node = await transaction.tx.node.findUnique({ where: { id: order.nodeId }, select: { removedAt: true } });
    if (node === null || node.removedAt !== null) return { kind: "gone" };
    if (options.mayRun !== null) {
      const world = await readWorldIn(transaction.tx);
      if (!options.mayRun(world)) return { kind: "refused", world };
    }
    const { effect, drainId } = await carryOut(transaction, order);
    if (effect !== "already_cordoned" && effect !== "not_cordoned" && effect !== "drain_unchanged") {
      transaction.changed();
    }
    transaction.audit(options.audit(effect, drainId));
    return { kind: "done", effect, drainId };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

interface Done {
  readonly effect: Effect;
  readonly drainId: string | null;
}

function carryOut(transaction: Write, order: AvailabilityOrder): Promise<Done> {
  switch (order.change.kind) {
    case "cordon":
      return cordon(transaction, order, order.change.gpuUuid);
    case "uncordon":
      return uncordon(transaction, order, order.change.gpuUuid);
    case "drain":
      return drain(transaction, order, order.change);
  }
}

async function cordon({ tx, nowMs }: Write, order: AvailabilityOrder, gpuUuid: string | null): Promise<Done> {
  const { nodeId, by, reason } = order;
  const known = await tx.cordon.findFirst({ where: { nodeId, gpuUuid, owner: "operator", by } });
  if (known !== null) return { effect: "already_cordoned", drainId: null };
  const since = new Date(nowMs);
  await tx.cordon.create({
    data: { id: newId("cordon", nowMs), nodeId, gpuUuid, owner: "operator", by, reason, since },
  });
  return { effect: "cordoned", drainId: null };
}

async function uncordon({ tx, nowMs }: Write, order: AvailabilityOrder, gpuUuid: string | null): Promise<Done> {
  const { nodeId } = order;
  if (gpuUuid !== null) {
    const { count } = await tx.cordon.deleteMany({ where: { nodeId, gpuUuid, owner: "operator" } });
    return { effect: count > 0 ? "uncordoned" : "not_cordoned", drainId: null };
  }
  const open = await tx.drain.findFirst({ where: { nodeId, endedAt: null } });
  const { count } = await tx.cordon.deleteMany({ where: { nodeId, owner: { in: ["operator", "drain"] } } });
  if (open === null) return { effect: count > 0 ? "uncordoned" : "not_cordoned", drainId: null };
  await tx.drain.update({ where: { id: open.id }, data: { endedAt: new Date(nowMs), result: "cancelled" } });
  return { effect: "drain_cancelled", drainId: open.id };
}

async function drain(
  { tx, nowMs }: Write,
  order: AvailabilityOrder,
  change: Extract<AvailabilityOrder["change"], { kind: "drain" }>,
): Promise<Done> {
  const { nodeId, by, reason } = order;
  const forced = change.force ? { forcedAt: new Date(nowMs), forcedBy: by } : {};
  const open = await tx.drain.findFirst({ where: { nodeId, endedAt: null } });
  if (open !== null) {
    const deadlineAt = change.graceMs === null ? open.deadlineAt : new Date(nowMs + change.graceMs);
    const shortens = deadlineAt < open.deadlineAt;
    const forces = change.force && open.forcedAt === null;
    if (!shortens && !forces) return { effect: "drain_unchanged", drainId: open.id };
    const data = { ...(shortens ? { deadlineAt } : {}), ...(forces ? forced : {}) };
    await tx.drain.update({ where: { id: open.id }, data });
    return { effect: forces ? "drain_forced" : "drain_shortened", drainId: open.id };
  }
  const id = newId("drain", nowMs);
  const startedAt = new Date(nowMs);
  const deadlineAt = new Date(nowMs + (change.graceMs ?? change.defaultGraceMs));
  await tx.drain.create({ data: { id, nodeId, by, reason, startedAt, deadlineAt, ...forced } });
  await tx.cordon.deleteMany({ where: { nodeId, owner: "drain" } });
  await tx.cordon.create({
    data: { id: newId("cordon", nowMs), nodeId, owner: "drain", by, reason, since: startedAt, drainId: id },
  });
  return { effect: "drain_started", drainId: id };
}
