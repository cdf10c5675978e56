import { type PlacementRecord, replicaPhases } from "@llmgw/domain";
import { shardExitSchema } from "@llmgw/wire";
import { z } from "zod";
import { instant, reasonOrNull } from "./common.ts";

const shardView = z.object({
  rank: z.int(),
  generation: z.int(),
  nodeId: z.string(),
  nodeName: z.string(),
  gpus: z.array(z.object({ uuid: z.string(), index: z.int().nullable() })),
  memoryMibPerGpu: z.int(),
  stopRequestedAt: instant.nullable(),
  /** What its agent last said of it, null when it said nothing; `ageMs` is how old that word is. */
  observed: z
    .object({
      phase: z.enum(["starting", "ready", "stopping", "exited", "stuck"]),
      pid: z.int().nullable(),
      url: z.string().nullable(),
      loadRatio: z.number().nullable(),
      loadMessage: z.string().nullable(),
      running: z.number().nullable(),
      waiting: z.number().nullable(),
      ageMs: z.number(),
    })
    .nullable(),
});
export type ShardView = z.infer<typeof shardView>;

const failureView = z.object({
  rank: z.int(),
  which: z.enum(["first", "latest"]),
  generation: z.int(),
  nodeName: z.string(),
  at: instant,
  exit: shardExitSchema,
});
export type FailureView = z.infer<typeof failureView>;

export const replicaView = z.object({
  id: z.string(),
  modelId: z.string(),
  modelRevision: z.int(),
  generation: z.int(),
  phase: z.enum(replicaPhases),
  phaseSince: instant,
  createdAt: instant,
  reason: reasonOrNull,
  replaces: z.string().nullable(),
  replacedBy: z.string().nullable(),
  drainId: z.string().nullable(),
  notBefore: instant.nullable(),
  shards: z.array(shardView),
  failures: z.array(failureView),
  /** Its place in the routers' table, and what each live router says of it. */
  routing: z.object({
    state: z.enum(["serving", "moving", "draining"]).nullable(),
    inflight: z.int(),
    routers: z.array(
      z.object({
        name: z.string(),
        applied: z.boolean(),
        inflight: z.int(),
        probe: z.enum(["ok", "failed", "unknown"]),
        breaker: z.enum(["closed", "open", "half_open"]),
      }),
    ),
  }),
});
export type ReplicaView = z.infer<typeof replicaView>;

/** A placement record on the wire: the domain's own shape, JSON as it is. */
export const placementRecordView = z.custom<PlacementRecord>(
  (value) => typeof value === "object" && value !== null && "candidates" in value && "outcome" in value,
  { error: "expected a placement record" },
);
