import { bands, modelManifest } from "@llmgw/wire";
import { z } from "zod";

const name = z.string().min(1).max(253);
const why = z.string().trim().max(500);
const graceMs = z
  .int()
  .min(0)
  .max(30 * 86_400_000);

/** Cordon, uncordon and drain are one call with different targets. `node` is a name or an id. */
export const setAvailabilityInput = z.strictObject({
  node: name,
  /** Other nodes of the same order: done in one transaction, moves of one never end on another. */
  also: z.array(name).max(99).optional(),
  target: z.enum(["active", "cordoned", "draining"]),
  reason: why.optional(),
  /** Only this GPU (its UUID or index). */
  gpu: z.string().optional(),
  graceMs: graceMs.optional(),
  force: z.boolean().optional(),
  /** The `plan` of the preview that was shown: refused with the new one if it is not true any more. */
  plan: z.string().optional(),
});
export type SetAvailabilityInput = z.infer<typeof setAvailabilityInput>;

export const drainReplicaInput = z.strictObject({
  replica: name,
  reason: why.optional(),
  graceMs: graceMs.optional(),
  force: z.boolean().default(false),
  plan: z.string().optional(),
});
export type DrainReplicaInput = z.infer<typeof drainReplicaInput>;

/** A change of a node's place in the cluster. */
export const nodeInput = z.strictObject({ node: name, reason: why.optional() });
export type NodeInput = z.infer<typeof nodeInput>;

export const explainInput = z.strictObject({
  model: name.optional(),
  spec: modelManifest.optional(),
  replica: name.optional(),
  /** Nodes (name or id) to leave out, as if they were gone. */
  exclude: z.array(name).max(1000).default([]),
});
export type ExplainInput = z.infer<typeof explainInput>;

export const previewInput = z
  .strictObject({
    nodes: z.array(name).max(100).default([]),
    gpus: z
      .array(z.strictObject({ node: name, gpu: z.string() }))
      .max(100)
      .default([]),
    replicas: z.array(name).max(100).default([]),
    graceMs: graceMs.optional(),
  })
  .refine(({ nodes, gpus, replicas }) => nodes.length + gpus.length + replicas.length > 0, {
    error: "expected at least one of nodes, gpus, replicas",
  });
export type PreviewInput = z.infer<typeof previewInput>;

export const logsInput = z.strictObject({
  replica: name,
  rank: z.int().min(0).default(0),
  lines: z.int().min(1).max(2000).default(200),
  previous: z.boolean().default(false),
});
export type LogsInput = z.infer<typeof logsInput>;

export const auditInput = z.strictObject({
  /** Rows before this sequence number (exclusive), newest first. */
  before: z.int().optional(),
  limit: z.int().min(1).max(500).default(100),
  actor: z.string().optional(),
  verb: z.string().optional(),
  target: z.string().optional(),
  cause: z.string().optional(),
  outcome: z.enum(["ok", "denied", "failed"]).optional(),
});
export type AuditInput = z.infer<typeof auditInput>;

export const replicasInput = z.strictObject({
  model: name.optional(),
  node: name.optional(),
  includeStopped: z.boolean().default(false),
});
export type ReplicasInput = z.infer<typeof replicasInput>;

export const drainsInput = z.strictObject({ node: name.optional(), open: z.boolean().optional() });
export type DrainsInput = z.infer<typeof drainsInput>;

const limit = z.int().positive().nullable();
const keyFields = {
  /** Ids of models that it may use; `*` for all. */
  models: z.array(name).min(1).max(1000),
  maxBand: z.enum(bands),
  limits: z.strictObject({
    requestsPerMinute: limit.default(null),
    tokensPerMinute: limit.default(null),
    concurrent: limit.default(null),
  }),
  /** May its holder have routing decisions kept, for operators to look at? */
  mayExplain: z.boolean(),
  expiresAt: z.iso.datetime({ offset: true }).nullable(),
};

export const createKeyInput = z.strictObject({
  name,
  models: keyFields.models.default(["*"]),
  maxBand: keyFields.maxBand.default("interactive"),
  limits: keyFields.limits.prefault({}),
  mayExplain: keyFields.mayExplain.default(false),
  expiresAt: keyFields.expiresAt.default(null),
  reason: why.optional(),
});
export type CreateKeyInput = z.infer<typeof createKeyInput>;

/** What is left out stays as it is. `key` is an id or a name. */
export const updateKeyInput = z.strictObject({
  key: name,
  models: keyFields.models.optional(),
  maxBand: keyFields.maxBand.optional(),
  /** All of them: a limit that is not there is lifted. */
  limits: keyFields.limits.optional(),
  mayExplain: keyFields.mayExplain.optional(),
  expiresAt: keyFields.expiresAt.optional(),
  reason: why.optional(),
});
export type UpdateKeyInput = z.infer<typeof updateKeyInput>;

export const revokeKeyInput = z.strictObject({ key: name, reason: why.optional() });
export type RevokeKeyInput = z.infer<typeof revokeKeyInput>;

export const usageInput = z.strictObject({
  /** Hours that begin from here on (inclusive) … */
  from: z.iso.datetime({ offset: true }),
  /** … up to here (exclusive); without it up to now. */
  to: z.iso.datetime({ offset: true }).optional(),
  /** Id or name of a key. */
  key: name.optional(),
  model: name.optional(),
});
export type UsageInput = z.infer<typeof usageInput>;
