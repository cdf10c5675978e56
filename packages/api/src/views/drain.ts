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
  /** How long it has been in this step; null until the control loop has recorded it. */
  stepForMs: z.number().nullable(),
  nextStep: z.enum(moveSteps).nullable(),
  /** When the original stops taking requests at the latest; null once it has. */
  deadlineAt: instant.nullable(),
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
  scope: z.enum(["node", "gpu", "replica"]),
  /** The GPU or the replica that it is a drain of. */
  gpuUuid: z.string().nullable(),
  replicaId: z.string().nullable(),
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
  /** Models of which more move at a time than their spec says, because little time is left. */
  surges: z.array(z.object({ modelId: z.string(), allowed: z.int(), maxSurge: z.int() })),
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
      /** Its turn: moves of round 2 take room that moves of round 1 leave. 0: it has no place. */
      round: z.int(),
      /** It can only start on `target` after it stopped here: from this instant until then nothing of it serves. */
      gapFrom: instant.nullable(),
      inflight: z.int(),
    }),
  ),
  models: z.array(
    z.object({
      modelId: z.string(),
      servingBefore: z.int(),
      servingLowest: z.int(),
      servingAfter: z.int(),
      /** How many move, how many at a time within this grace, and how many the spec lets. */
      moves: z.int(),
      surge: z.int(),
      maxSurge: z.int(),
      /** How long one move and all of them are expected to take, and a grace that raises no surge. */
      moveMs: z.number(),
      neededMs: z.number(),
      sufficientGraceMs: z.number(),
    }),
  ),
  /** The longest of the models' own. */
  neededMs: z.number(),
  sufficientGraceMs: z.number(),
  inflight: z.int(),
});
export type DrainPreview = z.infer<typeof drainPreview>;
