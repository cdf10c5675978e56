import { modelSpecSchema } from "@llmgw/wire";
import { z } from "zod";
import { instant, reasonOrNull } from "./common.ts";

export const modelView = z.object({
  id: z.string(),
  spec: modelSpecSchema,
  revision: z.int(),
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
