import type { AuditEntry } from "../audit.ts";
import type { Database } from "../database.ts";
import { write } from "../write.ts";

export type DrainChange =
  | { readonly kind: "extend"; readonly byMs: number }
  | { readonly kind: "force"; readonly by: string }
  /** Ends it. The node stays cordoned unless `uncordon`. */
  | { readonly kind: "stop"; readonly uncordon: boolean };

export type DrainChanged =
  | { readonly kind: "done" }
  | { readonly kind: "unknown" }
  | { readonly kind: "over"; readonly result: string | null };

/** Changes an open drain in one transaction with its audit row. */
export async function changeDrain(
  database: Database,
  order: { readonly drainId: string; readonly change: DrainChange },
  audit: (before: unknown, after: unknown) => AuditEntry,
): Promise<DrainChanged> {
  const { drainId, change } = order;
  const written = await write(database, async ({ tx, nowMs, changed, audit: record }): Promise<DrainChanged> => {
    const drain = await tx.drain.findUnique({ where: { id: drainId } });
    if (drain === null) return { kind: "unknown" };
    if (drain.endedAt !== null) return { kind: "over", result: drain.result };
    const now = new Date(nowMs);
    switch (change.kind) {
      case "extend": {
        const deadlineAt = new Date(Math.max(drain.deadlineAt.getTime(), nowMs) + change.byMs);
        await tx.drain.update({ where: { id: drainId }, data: { deadlineAt } });
        record(audit({ deadlineAt: drain.deadlineAt.toISOString() }, { deadlineAt: deadlineAt.toISOString() }));
        break;
      }
      case "force": {
        const forcedAt = drain.forcedAt ?? now;
        const forcedBy = drain.forcedBy ?? change.by;
        await tx.drain.update({ where: { id: drainId }, data: { forcedAt, forcedBy } });
        record(audit({ forced: drain.forcedAt !== null }, { forced: true }));
        break;
      }
      case "stop": {
        await tx.drain.update({ where: { id: drainId }, data: { endedAt: now, result: "cancelled" } });
        const { nodeId, gpuUuid, replicaId } = drain;
        if (change.uncordon && replicaId === null) {
          const where = gpuUuid === null ? { nodeId } : { nodeId, gpuUuid };
          await tx.cordon.deleteMany({ where: { ...where, owner: { in: ["operator", "drain"] } } });
        }
        record(audit({ open: true }, { result: "cancelled", uncordoned: change.uncordon }));
        break;
      }
    }
    changed();
    return { kind: "done" };
  });
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}
