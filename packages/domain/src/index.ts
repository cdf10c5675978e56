export type { GateSettings, JoinOptions, Place, Placement } from "./admission/gate.ts";
export { AdmissionGate } from "./admission/gate.ts";
export type { KeyLimits, MeterAnswer } from "./admission/key-meter.ts";
export { KeyMeter, noKeyLimits } from "./admission/key-meter.ts";
export { nodeAvailability } from "./cluster/availability.ts";
export type { Drain, DrainLoss, DrainResult, DrainScope, Move, MoveStep } from "./cluster/drain.ts";
export { drainCovers, drainScope, moveSteps } from "./cluster/drain.ts";
export type {
  Gpu,
  GpuFacts,
  GpuFault,
  GpuHealth,
  GpuHealthStatus,
  GpuProcess,
  GpuVendor,
} from "./cluster/gpu.ts";
export { whatClears } from "./cluster/gpu-clearing.ts";
export type { GpuQuestion } from "./cluster/gpu-verdict.ts";
export { judgeGpu, judgeMissingGpu } from "./cluster/gpu-verdict.ts";
export type { LivenessClock, MassSilence } from "./cluster/liveness.ts";
export { isConfirmedLost, massSilence, nodeLiveness, rememberedReturns } from "./cluster/liveness.ts";
export type {
  EngineName,
  Model,
  ModelRevision,
  ModelSource,
  ModelSpec,
  Rollout,
  RoutingPolicy,
} from "./cluster/model.ts";
export {
  engineNames,
  launchText,
  routingPolicies,
  specOfRevision,
  startedModel,
  withLoadTime,
} from "./cluster/model.ts";
export type { Availability, Cordon, CordonOwner, Liveness, Node, RunnableEngine } from "./cluster/node.ts";
export type { Reading } from "./cluster/reading.ts";
export { readingOrNull } from "./cluster/reading.ts";
export type { Replica, ReplicaPhase } from "./cluster/replica.ts";
export { replicaPhases } from "./cluster/replica.ts";
export type { EndpointReport, Router } from "./cluster/router.ts";
export type {
  EngineActivity,
  FailureCategory,
  Shard,
  ShardExit,
  ShardObservation,
  ShardObservedPhase,
} from "./cluster/shard.ts";
export type { ClusterSnapshot, ControlSettings } from "./cluster/snapshot.ts";
export { defaultControlSettings } from "./cluster/snapshot.ts";
export type { XidEntry, XidTable, XidVerdict } from "./cluster/xid-table.ts";
export { xidTable, xidTableWith } from "./cluster/xid-table.ts";
export type { PlacementQuestion } from "./placement/context.ts";
export type { FreeMemory } from "./placement/free-memory.ts";
export { gpuFreeMib, gpuHolders } from "./placement/free-memory.ts";
export { place } from "./placement/place.ts";
export type { PlannedPlacement, Recheck } from "./placement/recheck.ts";
export { recheckPlacement } from "./placement/recheck.ts";
export type {
  GpuCandidate,
  GpuHolder,
  NodeCandidate,
  PlacementOutcome,
  PlacementRecord,
  PlacementRule,
  RuleResult,
  ScorePart,
  ShardPlacement,
} from "./placement/record.ts";
export { placementRules } from "./placement/record.ts";
export type { AssumedShard, Assumptions, Tenancy, Tenant } from "./placement/tenants.ts";
export { tenancyOf } from "./placement/tenants.ts";
export type { ReasonLocale } from "./reasons/catalogue.ts";
export { describeReason, reasonCodes, reasonLocales } from "./reasons/catalogue.ts";
export type { Reason, ReasonCode, ReasonOf, ReasonParams } from "./reasons/reason.ts";
export { reason } from "./reasons/reason.ts";
export type { Action } from "./reconcile/action.ts";
export { takesVersion } from "./reconcile/action.ts";
export type { Instant } from "./reconcile/apply.ts";
export {
  applyToCordons,
  applyToDrain,
  applyToMove,
  applyToReplica,
  applyToRollout,
  createdReplica,
} from "./reconcile/apply.ts";
export type { DesiredShard, NodeDesire, ShardKey } from "./reconcile/desired-for-node.ts";
export { desiredForNode } from "./reconcile/desired-for-node.ts";
export type { DrainProgress, DrainQuestion, MoveProgress } from "./reconcile/drain-view.ts";
export { drainView } from "./reconcile/drain-view.ts";
export type { TableEndpoint } from "./reconcile/endpoint-table.ts";
export { endpointTable } from "./reconcile/endpoint-table.ts";
export type { ReplicaIds } from "./reconcile/fill.ts";
export { slugOf } from "./reconcile/fill.ts";
export type { PlanInput } from "./reconcile/plan.ts";
export { plan } from "./reconcile/plan.ts";
export type {
  DrainForecast,
  DrainTarget,
  PreviewedMove,
  PreviewOutcome,
  PreviewQuestion,
} from "./reconcile/preview-drain.ts";
export { previewDrain } from "./reconcile/preview-drain.ts";
export type { PreviewedModel } from "./reconcile/preview-models.ts";
export type { ReplicaChecked } from "./reconcile/refuse.ts";
export { cordonRefusal, modelRefusal, replicaRefusal, rolloutRefusal } from "./reconcile/refuse.ts";
export type { Revising } from "./reconcile/revise.ts";
export { revised, rolledBack } from "./reconcile/revise.ts";
export type { AffinityKeys } from "./routing/affinity.ts";
export { AffinityTable, prefixKeys, sessionKeys } from "./routing/affinity.ts";
export type { BodyScanResult, ByteSpan } from "./routing/body-scan.ts";
export { BodyScan } from "./routing/body-scan.ts";
export type { BreakerPermit, BreakerSettings, BreakerState, BreakerVerdict } from "./routing/breaker.ts";
export { Breaker, defaultBreakerSettings } from "./routing/breaker.ts";
export type { Candidate, Choice, ChoiceInput, ChoiceReason, EndpointGroups } from "./routing/choose.ts";
export { chooseEndpoint } from "./routing/choose.ts";
export type { StreamFacts } from "./routing/event-stream.ts";
export { EventStream } from "./routing/event-stream.ts";
export type { CandidateVerdict, ExplainedCandidate } from "./routing/explain.ts";
export { explainChoice } from "./routing/explain.ts";
export type { LedgerMark, LedgerSlot } from "./routing/ledger.ts";
export { Ledger } from "./routing/ledger.ts";
export { MultipartScan, multipartBoundary } from "./routing/multipart-scan.ts";
export { RateWindow } from "./routing/rate-window.ts";
export { retryAfterSeconds, waitSeconds } from "./routing/retry-after.ts";
export { RetryBudget } from "./routing/retry-budget.ts";
export type {
  Dispatch,
  DispatchEnd,
  EndpointFacts,
  EndpointState,
  Readiness,
  RoutingSettings,
} from "./routing/routed-endpoint.ts";
export { DEFAULT_MAX_INFLIGHT, RoutedEndpoint } from "./routing/routed-endpoint.ts";
export type { EndpointLoad, EngineReading, SaturationLimits } from "./routing/saturation.ts";
export {
  defaultSaturationLimits,
  endpointSaturation,
  fullness,
  modelSaturation,
  predictedWaiting,
} from "./routing/saturation.ts";
export { withUsageAsked } from "./routing/usage-injection.ts";
