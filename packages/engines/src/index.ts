export type {
  EngineAdapter,
  EngineExit,
  EngineWork,
  ExitVerdict,
  LaunchGpu,
  LaunchLine,
  LaunchRequest,
  LoadProgress,
  Readiness,
} from "./adapter.ts";
export { listedModels } from "./listed-models.ts";
export { createEngineRegistry, type EngineRegistry } from "./registry.ts";
export type { SimulatorPlace } from "./sim/adapter.ts";
export { type EngineMetrics, parseVllmMetrics } from "./vllm/metrics.ts";
