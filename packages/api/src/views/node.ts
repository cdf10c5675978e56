import { engineNames } from "@llmgw/domain";
import { z } from "zod";
import { instant, reading, reasonOrNull } from "./common.ts";

const cordonView = z.object({
  owner: z.enum(["operator", "drain", "health", "flapping"]),
  by: z.string(),
  reason: z.string(),
  since: instant,
  gpuUuid: z.string().nullable(),
  drainId: z.string().nullable(),
});
export type CordonView = z.infer<typeof cordonView>;

const gpuView = z.object({
  uuid: z.string(),
  index: z.int(),
  previousIndex: z.int().nullable(),
  vendor: z.string(),
  name: z.string(),
  pciBusId: z.string().nullable(),
  totalMib: reading,
  usedMib: reading,
  temperatureC: reading,
  utilizationRatio: reading,
  health: z.object({
    status: z.enum(["healthy", "degraded", "unhealthy", "unknown"]),
    reason: reasonOrNull,
    evidence: z.string().nullable(),
    since: instant,
    /** What makes it healthy again, in words; null when healthy. */
    clears: z.string().nullable(),
  }),
  missingSince: instant.nullable(),
  /** May new work be placed on it, and if not, why (health, missing, cordoned GPU). */
  schedulable: z.boolean(),
  excludedBy: reasonOrNull,
  /** Shards of ours that hold memory of it. */
  holders: z.array(z.object({ replicaId: z.string(), modelId: z.string(), rank: z.int(), mib: z.int() })),
  /** Processes that are not ours. */
  foreign: z.array(z.object({ pid: z.int(), usedMib: reading })),
});
export type GpuView = z.infer<typeof gpuView>;

export const nodeView = z.object({
  id: z.string(),
  name: z.string(),
  address: z.string(),
  availability: z.enum(["active", "cordoned", "draining", "drained"]),
  liveness: z.enum(["live", "suspect", "lost"]),
  lastSeenAt: instant.nullable(),
  /** Since when an operator calls it lost; null where nobody does, or it was heard since. */
  lostConfirmedAt: instant.nullable(),
  registeredAt: instant,
  simulated: z.boolean(),
  labels: z.record(z.string(), z.string()),
  agentVersion: z.string(),
  engines: z.array(z.object({ name: z.enum(engineNames), version: z.string().nullable() })),
  cordons: z.array(cordonView),
  gpus: z.array(gpuView),
  gpuProbeError: z.string().nullable(),
  /** Shards that are on it by the database's word. */
  shards: z.array(
    z.object({
      replicaId: z.string(),
      modelId: z.string(),
      generation: z.int(),
      rank: z.int(),
      replicaPhase: z.string(),
      gpuUuids: z.array(z.string()),
      pid: z.int().nullable(),
      url: z.string().nullable(),
      loadRatio: z.number().nullable(),
    }),
  ),
  /** Engines it runs that the database does not know. They run on until an operator decides. */
  orphans: z.array(z.object({ replicaId: z.string(), generation: z.int(), rank: z.int(), pid: z.int().nullable() })),
  openDrainId: z.string().nullable(),
  lastDrainId: z.string().nullable(),
});
export type NodeView = z.infer<typeof nodeView>;
