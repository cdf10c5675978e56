import type { GpuFacts, ShardExit, ShardObservation } from "@llmgw/domain";
import { engineNames } from "@llmgw/domain";
import { z } from "zod";
import { label, reading, syncProtocol } from "./primitives.ts";

const gpuFault = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("xid"), number: z.int(), evidence: z.string() }),
  z.object({ kind: z.literal("lost"), evidence: z.string() }),
  z.object({ kind: z.literal("recovery_action"), action: z.string(), evidence: z.string() }),
  z.object({ kind: z.literal("unreadable"), evidence: z.string() }),
]);

export const gpuFactsSchema: z.ZodType<GpuFacts> = z.object({
  uuid: z.string().min(1),
  index: z.int().min(0),
  vendor: z.enum(["nvidia", "amd", "apple", "cpu"]),
  name: z.string(),
  pciBusId: z.string().nullable(),
  totalMib: reading,
  usedMib: reading,
  temperatureC: reading,
  utilizationRatio: reading,
  eccUncorrected: reading,
  migMode: z.enum(["enabled", "disabled", "unsupported", "unreadable"]),
  faults: z.array(gpuFault),
  processes: z.array(z.object({ pid: z.int(), usedMib: reading, shard: z.string().nullable() })),
});

const failureCategories = [
  "out_of_memory",
  "bad_configuration",
  "port_in_use",
  "gpu_fault",
  "model_not_found",
  "load_stalled",
  "killed",
  "stopped",
  "crash",
  "unknown",
] as const;

export const shardExitSchema: z.ZodType<ShardExit> = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  category: z.enum(failureCategories),
  cause: z.string(),
  hint: z.string().nullable(),
  tail: z.array(z.string()).max(200),
  asked: z.boolean(),
  ranMs: z.number(),
});

export const shardObservationSchema: z.ZodType<ShardObservation> = z.object({
  replicaId: z.string(),
  generation: z.int(),
  rank: z.int(),
  phase: z.enum(["starting", "ready", "stopping", "exited", "stuck"]),
  pid: z.int().nullable(),
  url: z.string().nullable(),
  gpuUuids: z.array(z.string()),
  loadRatio: z.number().min(0).max(1).nullable(),
  loadMessage: z.string().nullable(),
  startedAgoMs: z.number().nullable(),
  activity: z
    .object({ running: z.number(), waiting: z.number(), zeroReads: z.int(), sinceVersion: z.int() })
    .nullable(),
  exit: shardExitSchema.nullable(),
});

/** What an agent says of its machine. `gpus: null`: the probe has no answer yet or failed (`gpuProbeError` says why). */
export const agentReport = z.object({
  name: label,
  address: z.string(),
  agentVersion: z.string(),
  simulated: z.boolean(),
  labels: z.record(z.string(), z.string()),
  engines: z.array(z.object({ name: z.enum(engineNames), version: z.string().nullable() })),
  sources: z.record(z.string(), z.enum(["present", "absent"])),
  gpus: z.array(gpuFactsSchema).nullable(),
  gpuProbeError: z.string().nullable(),
  shards: z.array(shardObservationSchema),
  /** Answers to `logs` requests of earlier answers. */
  logs: z.array(z.object({ requestId: z.string(), lines: z.array(z.string()), truncated: z.boolean() })),
});
export type AgentReport = z.infer<typeof agentReport>;

/**
 * The agent's long poll. Its node is known by its credential. `session` is new with each agent process; `appliedVersion`
 * is the last answer it has carried out (0 at first).
 */
export const agentSyncRequest = z.object({
  protocol: z.literal(syncProtocol),
  machineId: z.string(),
  bootId: z.string(),
  session: z.string(),
  clusterId: z.string().nullable(),
  appliedVersion: z.int().min(0),
  report: agentReport,
});
export type AgentSyncRequest = z.infer<typeof agentSyncRequest>;

const shardKey = { replicaId: z.string(), generation: z.int(), rank: z.int() };

/**
 * Where the processes of one replica reach each other: rank 0 at `ranks[0]`, and so on. `address` is what that rank's
 * agent advertises. `port` is the first of ten in a row that the control plane has set aside on that machine for this
 * generation, for rendezvous or for what a worker listens on; the HTTP port is the agent's own choice.
 */
const shardGroup = z.object({ ranks: z.array(z.object({ address: z.string(), port: z.int() })).min(2) });

/** Everything an agent needs to start a shard with an engine adapter. */
export const shardLaunch = z.object({
  ...shardKey,
  modelId: z.string(),
  aliases: z.array(z.string()),
  engine: z.object({
    name: z.enum(engineNames),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
  }),
  source: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("hub"), repo: z.string() }),
    z.object({ kind: z.literal("path"), path: z.string() }),
    z.object({ kind: z.literal("external"), urls: z.array(z.string()) }),
  ]),
  gpuUuids: z.array(z.string()),
  memoryMibPerGpu: z.int(),
  contextTokens: z.int().nullable(),
  tp: z.int(),
  /** Pipeline stages of the whole replica. */
  pp: z.int().default(1),
  /** The processes of a replica that spans machines, by rank; null for a replica of one process. */
  group: shardGroup.nullable().default(null),
  load: z.object({ maxMs: z.int(), stallMs: z.int() }),
  /** The replica's own key: its engine accepts no other. */
  apiKey: z.string(),
  /** Set while the replica drains: count the engine's idle reads (`activity`) from this version on. */
  quietSinceVersion: z.int().nullable(),
});
export type ShardLaunch = z.infer<typeof shardLaunch>;

/** Stop this shard: SIGTERM to its group, SIGKILL after `killAfterMs`, then confirm. The only order that stops anything. */
export const shardStop = z.object({ ...shardKey, killAfterMs: z.int() });
export type ShardStop = z.infer<typeof shardStop>;

/**
 * The whole desired state of one node. A shard that is in neither list runs on (it is an orphan until an operator
 * decides), except that an `exited` one that the agent reported in the request may then be forgotten.
 */
export const agentSyncAnswer = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("desired"),
    protocol: z.literal(syncProtocol),
    clusterId: z.string(),
    version: z.int(),
    run: z.array(shardLaunch),
    stop: z.array(shardStop),
    logs: z.array(z.object({ requestId: z.string(), ...shardKey, lines: z.int(), previous: z.boolean() })),
    /** How long to wait before the next poll when nothing happens here, ms. */
    pollAfterMs: z.int(),
  }),
  z.object({
    kind: z.literal("unchanged"),
    protocol: z.literal(syncProtocol),
    clusterId: z.string(),
    version: z.int(),
    pollAfterMs: z.int(),
  }),
]);
export type AgentSyncAnswer = z.infer<typeof agentSyncAnswer>;

/** A join token buys a node its own credential. The same machine asking again for its name gets a new one. */
export const agentJoinRequest = z.object({
  name: label,
  machineId: z.string(),
  bootId: z.string(),
  simulated: z.boolean(),
});
export const agentJoinAnswer = z.object({ nodeId: z.string(), credential: z.string(), clusterId: z.string() });
