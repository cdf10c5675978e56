import { z } from "zod";
import { instant, roles } from "./common.ts";

export const auditView = z.object({
  seq: z.int(),
  at: instant,
  actorKind: z.enum(["user", "token", "node", "router", "system", "anonymous"]),
  actor: z.string(),
  role: z.string().nullable(),
  source: z.string().nullable(),
  verb: z.string(),
  target: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  reason: z.string().nullable(),
  outcome: z.enum(["ok", "denied", "failed"]),
  requestId: z.string().nullable(),
  cause: z.string().nullable(),
});
export type AuditView = z.infer<typeof auditView>;

/** What following the audit's hash chain found. */
export const auditVerification = z.object({
  /** The rows that were followed: from the oldest that is kept. `lastSeq` below `firstSeq`: none. */
  firstSeq: z.int(),
  lastSeq: z.int(),
  /** How many of the newest ones are not sealed yet: the seal follows within seconds. */
  unsealed: z.int(),
  /** When older rows were last deleted by retention; null: never. */
  prunedAt: instant.nullable(),
  /** The first row that is not what was sealed; null: every row is. */
  problem: z.object({ kind: z.enum(["changed", "missing", "seal_missing"]), seq: z.int() }).nullable(),
});
export type AuditVerification = z.infer<typeof auditVerification>;

export const routerView = z.object({
  id: z.string(),
  name: z.string(),
  address: z.string(),
  version: z.string(),
  lastSeenAt: instant,
  state: z.enum(["live", "silent", "left"]),
  appliedVersion: z.int(),
  inflight: z.int(),
});
export type RouterView = z.infer<typeof routerView>;

export const clusterView = z.object({
  id: z.string(),
  version: z.int(),
  now: instant,
  build: z.object({ version: z.string(), commit: z.string().nullable() }),
  /** Any node of it is simulated. */
  simulated: z.boolean(),
  nodes: z.object({ total: z.int(), live: z.int(), draining: z.int(), cordoned: z.int() }),
  /** `usable`: would take new work now. `excluded`: kept out for a reason of their own, whatever their node does. */
  gpus: z.object({ total: z.int(), usable: z.int(), excluded: z.int() }),
  models: z.object({ total: z.int(), belowDesired: z.int() }),
  replicas: z.object({ total: z.int(), serving: z.int() }),
  openDrains: z.int(),
  routers: z.object({ live: z.int(), silent: z.int() }),
  /** Most nodes went silent together: taken for a fault of ours, nothing of theirs is replaced. Null: they did not. */
  massSilence: z.object({ silent: z.int(), nodes: z.int() }).nullable(),
  /** Who runs the control loop. Null: nobody holds the lease just now. */
  leader: z.string().nullable(),
  routerUrl: z.string().nullable(),
});
export type ClusterView = z.infer<typeof clusterView>;

export const whoAmI = z.object({ kind: z.enum(["session", "token"]), name: z.string(), role: z.enum(roles) });
export type WhoAmI = z.infer<typeof whoAmI>;
