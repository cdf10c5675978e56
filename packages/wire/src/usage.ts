import { z } from "zod";
import { instant } from "./primitives.ts";

const count = z.int().min(0);

/** What one key used of one model within one hour. */
export const usageRow = z.object({
  /** Its begin. */
  hour: instant,
  keyId: z.string(),
  model: z.string(),
  requests: count,
  /** Of the requests, those whose engine did not tell: their completion tokens are content events. */
  estimatedRequests: count,
  promptTokens: count,
  completionTokens: count,
  /** Of the prompt tokens, those found in an engine's cache. */
  cachedTokens: count,
});
export type UsageRow = z.infer<typeof usageRow>;

/** Usage that a router counted. (router, boot, seq) names it: sent twice, it is counted once. */
export const usageBatch = z.object({
  boot: z.string().max(100),
  seq: z.int().positive(),
  rows: z.array(usageRow).max(100_000),
});
export type UsageBatch = z.infer<typeof usageBatch>;

/** A router's oldest batch. One boot's batches are sent in order, each once the one before was taken. */
export const usageReport = z.object({ router: z.string().max(100), batch: usageBatch });
export type UsageReport = z.infer<typeof usageReport>;
