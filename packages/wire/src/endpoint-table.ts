import { engineNames, type KeyLimits, noKeyLimits, routingPolicies } from "@llmgw/domain";
import { z } from "zod";

/** The bands of a cluster, the one that goes first first. A router with a file of its own may have others. */
export const bands = ["interactive", "standard", "batch"] as const;
export type Band = (typeof bands)[number];

/** One engine that a router may send to. A (replica, generation) is a new endpoint with a fresh ledger and breaker. */
export const endpointEntry = z.object({
  replica: z.string(),
  generation: z.int(),
  url: z.url(),
  metricsUrl: z.url().nullable(),
  pool: z.string(),
  /** `none`: nothing to scrape. */
  engine: z.enum([...engineNames, "none"]),
  state: z.enum(["serving", "moving", "draining"]),
  maxInflight: z.int().positive().nullable(),
  maxConcurrent: z.int().positive().nullable(),
  apiKey: z.string().nullable(),
});
export type EndpointEntry = z.infer<typeof endpointEntry>;

export const modelEntry = z.object({
  id: z.string(),
  aliases: z.array(z.string()),
  policy: z.enum(routingPolicies),
  timeouts: z.object({
    firstByteMs: z.int().nullable(),
    idleMs: z.int().nullable(),
    progressMs: z.int().nullable(),
  }),
  /** True: engines are asked to tell what a streamed answer used, and the event with it is kept from clients that did not ask. */
  usageInjection: z.boolean().default(false),
  endpoints: z.array(endpointEntry),
});
export type ModelEntry = z.infer<typeof modelEntry>;

/** What a key may use, over all routers together. Null: no limit. */
export const keyLimits = z.object({
  requestsPerMinute: z.int().positive().nullable(),
  tokensPerMinute: z.int().positive().nullable(),
  concurrent: z.int().positive().nullable(),
}) satisfies z.ZodType<KeyLimits>;

/** An inference key as a router knows it: only the hash of the secret. */
export const keyEntry = z.object({
  id: z.string(),
  sha256: z.string(),
  models: z.array(z.string()),
  /** The highest band of its requests. */
  maxBand: z.string(),
  limits: keyLimits.default(noKeyLimits),
  /** True: its holder may have routing decisions kept for operators to look at. */
  mayExplain: z.boolean().default(false),
  expiresAt: z.iso.datetime().nullable(),
  revoked: z.boolean(),
});
export type KeyEntry = z.infer<typeof keyEntry>;

/** The whole table a router serves from. It holds engine keys: on disk only with mode 0600. */
export const endpointTable = z.object({
  clusterId: z.string(),
  version: z.int(),
  models: z.array(modelEntry),
  keys: z.array(keyEntry),
  /** Routers that share the keys' limits, this one among them. */
  routers: z.int().positive().default(1),
});
export type EndpointTable = z.infer<typeof endpointTable>;
