import { engineNames, routingPolicies } from "@llmgw/domain";
import { z } from "zod";

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
  endpoints: z.array(endpointEntry),
});
export type ModelEntry = z.infer<typeof modelEntry>;

/** An inference key as a router knows it: only the hash of the secret. */
export const keyEntry = z.object({
  id: z.string(),
  sha256: z.string(),
  models: z.array(z.string()),
  maxBand: z.enum(bands),
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
});
export type EndpointTable = z.infer<typeof endpointTable>;
