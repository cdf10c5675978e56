export { csvHead, csvLine } from "./audit/audit-csv.ts";
export type { AuditRow } from "./audit/audit-row.ts";
export { auditVerdict } from "./audit/audit-verdict.ts";
export { eachAuditPage } from "./audit/each-audit-page.ts";
export { createLlmgwClient, type LlmgwClient, type LlmgwClientOptions } from "./client.ts";
export type {
  AuditInput,
  DrainsInput,
  ExplainInput,
  LogsInput,
  PreviewInput,
  ReplicasInput,
  SetAvailabilityInput,
} from "./inputs.ts";
export { type Permission, type ProcedurePath, permissions, permits } from "./permissions.ts";
export type { AppRouter } from "./server/root.ts";
export type { AuditVerification, AuditView, ClusterView, RouterView, WhoAmI } from "./views/access.ts";
export type { Role } from "./views/common.ts";
export type { DrainPreview, DrainView, MoveView } from "./views/drain.ts";
export type { CreatedKey, KeyChange, KeyView, UsageView } from "./views/key.ts";
export type { ModelView } from "./views/model.ts";
export type { CordonView, GpuView, NodeView } from "./views/node.ts";
export type { FailureView, ReplicaView, ShardView } from "./views/replica.ts";
