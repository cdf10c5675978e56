export {
  type AgentReport,
  type AgentSyncAnswer,
  type AgentSyncRequest,
  agentJoinAnswer,
  agentJoinRequest,
  agentReport,
  agentSyncAnswer,
  agentSyncRequest,
  gpuFactsSchema,
  type ShardLaunch,
  type ShardStop,
  shardExitSchema,
  shardLaunch,
  shardObservationSchema,
  shardStop,
} from "./agent-sync.ts";
export {
  type Band,
  bands,
  type EndpointEntry,
  type EndpointTable,
  endpointEntry,
  endpointTable,
  type KeyEntry,
  keyEntry,
  keyLimits,
  type ModelEntry,
  modelEntry,
} from "./endpoint-table.ts";
export { durationMs, type ModelManifest, memorySize, modelManifest, modelSpecSchema } from "./model-spec.ts";
export { type OpenAiError, openAiError } from "./openai-error.ts";
export { instant, label, reading, reasonSchema, syncProtocol } from "./primitives.ts";
export {
  type EndpointReportWire,
  endpointReport,
  type RouterReport,
  type RouterSyncAnswer,
  type RouterSyncRequest,
  routerReport,
  routerSyncAnswer,
  routerSyncRequest,
} from "./router-sync.ts";
export { type RunFile, runFile } from "./run-file.ts";
export {
  type UsageBatch,
  type UsageReport,
  type UsageRow,
  usageBatch,
  usageReport,
  usageRow,
} from "./usage.ts";
