import { keyLimits, usageRow } from "@llmgw/wire";
import { z } from "zod";
import { instant } from "./common.ts";

/** An inference key. Its secret is told once, when it is made; `prefix` is its begin, to recognise it by. */
export const keyView = z.object({
  id: z.string(),
  name: z.string(),
  prefix: z.string(),
  /** Ids of models; `*` for all. */
  models: z.array(z.string()),
  maxBand: z.string(),
  limits: keyLimits,
  mayExplain: z.boolean(),
  createdAt: instant,
  expiresAt: instant.nullable(),
  revokedAt: instant.nullable(),
});
export type KeyView = z.infer<typeof keyView>;

/** A change of a key, and the live routers that had not confirmed it when the wait for them was over. */
export const keyChange = z.object({ key: keyView, unconfirmedRouters: z.array(z.string()) });
export type KeyChange = z.infer<typeof keyChange>;

export const createdKey = keyChange.extend({ secret: z.string() });
export type CreatedKey = z.infer<typeof createdKey>;

/** Usage of one key and model in one hour; `keyName` is null for a key that is not known any more. */
export const usageView = usageRow.extend({ keyName: z.string().nullable() });
export type UsageView = z.infer<typeof usageView>;
