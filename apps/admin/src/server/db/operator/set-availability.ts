import type { DrainTarget } from "@llmgw/domain";
import { newId } from "@llmgw/service";
import type { AuditEntry } from "../audit.ts";
import type { Database } from "../database.ts";
import { readWorldIn, type World } from "../world.ts";
import { type Write, write } from "../write.ts";

export interface AvailabilityOrder {
  readonly target: DrainTarget;
  readonly by: string;
  readonly reason: string;
  readonly change: /** Of the target's GPU, or where it names none of the node. */
    | { readonly kind: "cordon" }
    /** Of one GPU and its drain; or of the node and all its GPUs, with all their drains. */
    | { readonly kind: "uncordon" }
    | {
        readonly kind: "drain";
        /** Null: `defaultGraceMs`, and what an open drain has stays. */
        readonly graceMs: number | null;
        readonly defaultGraceMs: number;
        readonly force: boolean;
      };
}

export interface Carried {
  readonly effect: Effect;
  readonly drainId: string | null;
}

export type AvailabilityResult =
  | { readonly kind: "done"; readonly carried: readonly Carried[] }
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

const unchanging: ReadonlySet<Effect> = new Set(["already_cordoned", "not_cordoned", "drain_unchanged"]);

/**
 * Carries an operator's orders out together, in one transaction with an audit row each. `mayRun` sees the cluster as it
 * is then; when it says no, nothing is written and what it saw is handed back.
 */
export async function setAvailability(
  database: Database,
  orders: readonly AvailabilityOrder[],
  options: {
    readonly audit: (order: AvailabilityOrder, carried: Carried) => AuditEntry;
    readonly mayRun: ((world: World) => boolean) | null;
  },
): Promise<AvailabilityResult> {
  const written = await write(database, async (transaction): Promise<AvailabilityResult> => {
    const ids = [...new Set(orders.map((order) => order.target.nodeId))];
    const known = await transaction.tx.node.count({ where: { id: { in: ids }, removedAt: null } });
    if (known < ids.length) return { kind: "gone" };
    if (options.mayRun !== null) {
      const world = await readWorldIn(transaction.tx);
      if (!options.mayRun(world)) return { kind: "refused", world };
    }
    const carried: Carried[] = [];
    for (const order of orders) {
      const one = await carryOut(transaction, order);
      if (!unchanging.has(one.effect)) transaction.changed();
      transaction.audit(options.audit(order, one));
      carried.push(one);
    }
    return { kind: "done", carried };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

function carryOut(transaction: Write, order: AvailabilityOrder): Promise<Carried> {
  switch (order.change.kind) {
    case "cordon":
      return cordon(transaction, order);
    case "uncordon":
      return uncordon(transaction, order.target);
    case "drain":
      return drain(transaction, order, order.change);
  }
}

async function cordon({ tx, nowMs }: Write, { target, by, reason }: AvailabilityOrder): Promise<Carried> {
  const { nodeId, gpuUuid } = target;
  const known = await tx.cordon.findFirst({ where: { nodeId, gpuUuid, owner: "operator", by } });
  if (known !== null) return { effect: "already_cordoned", drainId: null };
  const since = new Date(nowMs);
  await tx.cordon.create({
    data: { id: newId("cordon", nowMs), nodeId, gpuUuid, owner: "operator", by, reason, since },
  });
  return { effect: "cordoned", drainId: null };
}

async function uncordon({ tx, nowMs }: Write, { nodeId, gpuUuid }: DrainTarget): Promise<Carried> {
  const where = { nodeId, ...(gpuUuid === null ? {} : { gpuUuid }) };
  const open = await tx.drain.findMany({ where: { ...where, replicaId: null, endedAt: null } });
  const { count } = await tx.cordon.deleteMany({ where: { ...where, owner: { in: ["operator", "drain"] } } });
  if (open.length === 0) return { effect: count > 0 ? "uncordoned" : "not_cordoned", drainId: null };
  await tx.drain.updateMany({
    where: { id: { in: open.map((one) => one.id) } },
    data: { endedAt: new Date(nowMs), result: "cancelled" },
  });
  const whole = open.find((one) => one.gpuUuid === null) ?? open[0];
  return { effect: "drain_cancelled", drainId: whole?.id ?? null };
}

async function drain(
  { tx, nowMs }: Write,
  order: AvailabilityOrder,
  change: Extract<AvailabilityOrder["change"], { kind: "drain" }>,
): Promise<Carried> {
  const { by, reason } = order;
  const { nodeId, gpuUuid, replica } = order.target;
  const forced = change.force ? { forcedAt: new Date(nowMs), forcedBy: by } : {};
  const same = replica === null ? { nodeId, gpuUuid, replicaId: null } : { replicaId: replica.id };
  const open = await tx.drain.findFirst({ where: { ...same, endedAt: null } });
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
  const scope = { nodeId, gpuUuid, replicaId: replica?.id ?? null, replicaGeneration: replica?.generation ?? null };
  await tx.drain.create({ data: { id, ...scope, by, reason, startedAt, deadlineAt, ...forced } });
  if (replica === null) {
    await tx.cordon.deleteMany({ where: { nodeId, gpuUuid, owner: "drain" } });
    await tx.cordon.create({
      data: { id: newId("cordon", nowMs), nodeId, gpuUuid, owner: "drain", by, reason, since: startedAt, drainId: id },
    });
  }
  return { effect: "drain_started", drainId: id };
}
