import type { EndpointReport } from "@llmgw/domain";
import { z } from "zod";
import { endpointTable } from "./endpoint-table.ts";
import { syncProtocol } from "./primitives.ts";

/** A router's word on one endpoint, with the live numbers that the dashboard shows. */
export const endpointReport = z.object({
  replicaId: z.string(),
  generation: z.int(),
  inflight: z.int().min(0),
  probe: z.enum(["ok", "failed", "unknown"]),
  breaker: z.enum(["closed", "open", "half_open"]),
  completions: z.int().min(0),
  failures: z.int().min(0),
  running: z.number().nullable(),
  waiting: z.number().nullable(),
  kvUsageRatio: z.number().nullable(),
  drainRatePerSecond: z.number().nullable(),
  stale: z.boolean(),
}) satisfies z.ZodType<EndpointReport>;
export type EndpointReportWire = z.infer<typeof endpointReport>;

export const routerReport = z.object({
  name: z.string(),
  address: z.string(),
  version: z.string(),
  endpoints: z.array(endpointReport),
  models: z.array(z.object({ id: z.string(), saturation: z.number(), queued: z.record(z.string(), z.int()) })),
});
export type RouterReport = z.infer<typeof routerReport>;

/** A router's long poll. `id` is its own, kept on disk; `session` is new with each process. */
export const routerSyncRequest = z.object({
  protocol: z.literal(syncProtocol),
  id: z.string(),
  session: z.string(),
  clusterId: z.string().nullable(),
  appliedVersion: z.int().min(0),
  /** True in the last message of a router that shuts down: nothing is in flight any more and nothing will be sent. */
  leaving: z.boolean(),
  report: routerReport,
});
export type RouterSyncRequest = z.infer<typeof routerSyncRequest>;

/** Routers that are live now, the asking one among them: they share the keys' limits. */
const liveRouters = z.int().positive();

export const routerSyncAnswer = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("table"),
    protocol: z.literal(syncProtocol),
    clusterId: z.string(),
    version: z.int(),
    routers: liveRouters,
    table: endpointTable,
    pollAfterMs: z.int(),
  }),
  z.object({
    kind: z.literal("unchanged"),
    protocol: z.literal(syncProtocol),
    clusterId: z.string(),
    version: z.int(),
    routers: liveRouters,
    pollAfterMs: z.int(),
  }),
]);
export type RouterSyncAnswer = z.infer<typeof routerSyncAnswer>;
