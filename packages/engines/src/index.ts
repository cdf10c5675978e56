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
export { maxConcurrentOf } from "./max-concurrent.ts";
export { type MetricsReader, metricsReaders } from "./metrics-readers.ts";
export { createEngineRegistry, type EngineRegistry } from "./registry.ts";
export type { EngineMetrics } from "./samples.ts";
export type { SimulatorPlace } from "./sim/adapter.ts";
