import { modelSpecSchema } from "@llmgw/wire";
import { z } from "zod";
import { instant, reasonOrNull } from "./common.ts";

export const modelView = z.object({
  id: z.string(),
  spec: modelSpecSchema,
  revision: z.int(),
  /** Its replicas are on their way from one revision to another; null when they are there. */
  rollout: z
    .object({
      fromRevision: z.int(),
      toRevision: z.int(),
      /** failed: it is paused, and what still runs serves on. */
      status: z.enum(["running", "failed"]),
      startedAt: instant,
      by: z.string(),
      failedAt: instant.nullable(),
      acceptGap: z.boolean(),
      desired: z.int(),
      /** Replicas of the new revision that serve, that start, and those of other revisions that are left. */
      updated: z.int(),
      starting: z.int(),
      old: z.int(),
      /** Why it failed, or what it waits for. */
      reason: reasonOrNull,
    })
    .nullable(),
  createdAt: instant,
  deletedAt: instant.nullable(),
  /** Three different numbers: wanted, on a GPU, and proven to answer (moving ones not included). */
  desired: z.int(),
  placed: z.int(),
  serving: z.int(),
  moving: z.int(),
  /** Why it is below desired; null when it is not. */
  reason: reasonOrNull,
  simulated: z.boolean(),
});
export type ModelView = z.infer<typeof modelView>;
