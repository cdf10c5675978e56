import { moveSteps } from "@llmgw/domain";
import { z } from "zod";
import { instant, reasonOrNull, reasonSchema } from "./common.ts";

const moveView = z.object({
  replicaId: z.string(),
  modelId: z.string(),
  replacementId: z.string().nullable(),
  /** Where the replacement is or is planned, e.g. `sim-2 GPU 1`; null while unknown. */
  target: z.string().nullable(),
  step: z.enum(moveSteps),
  stepAt: z.partialRecord(z.enum(moveSteps), instant),
  /** Why it waits, with numbers; null while it advances. */
  reason: reasonOrNull,
  /** 0..1 while the replacement loads and its engine says so. */
  loadRatio: z.number().nullable(),
  inflight: z.int(),
  lost: z.boolean(),
});
export type MoveView = z.infer<typeof moveView>;

export const drainView = z.object({
  id: z.string(),
  nodeId: z.string(),
  nodeName: z.string(),
  by: z.string(),
  reason: z.string(),
  startedAt: instant,
  deadlineAt: instant,
  forcedAt: instant.nullable(),
  forcedBy: z.string().nullable(),
  endedAt: instant.nullable(),
  result: z.enum(["complete", "completeWithLosses", "unconfirmed", "cancelled", "failed"]).nullable(),
  losses: z.array(z.object({ replicaId: z.string(), modelId: z.string(), reason: reasonSchema })),
  moves: z.array(moveView),
  /** Engine processes on the node that its agent has not yet confirmed gone. */
  unconfirmedShards: z.int(),
  /** What the drain waits for, in one reason; null when it only has to run. */
  waitingFor: reasonOrNull,
});
export type DrainView = z.infer<typeof drainView>;

export const drainPreview = z.object({
  /** A run that names this plan is refused when the cluster has changed what the plan says. */
  plan: z.string(),
  snapshotVersion: z.int(),
  at: instant,
  graceMs: z.int(),
  nodes: z.array(z.object({ id: z.string(), name: z.string() })),
  moves: z.array(
    z.object({
      replicaId: z.string(),
      modelId: z.string(),
      nodeName: z.string(),
      outcome: z.enum(["moves", "waits", "cannot_move", "stops_at_once"]),
      /** `sim-2 GPU 1` for a move. */
      target: z.string().nullable(),
      reason: reasonOrNull,
      inflight: z.int(),
    }),
  ),
  models: z.array(
    z.object({ modelId: z.string(), servingBefore: z.int(), servingLowest: z.int(), servingAfter: z.int() }),
  ),
  inflight: z.int(),
});
export type DrainPreview = z.infer<typeof drainPreview>;
