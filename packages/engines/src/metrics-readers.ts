import type { EngineName } from "@llmgw/domain";
import { parseLlamacppMetrics } from "./llamacpp/metrics.ts";
import type { EngineMetrics } from "./samples.ts";
import { parseSglangMetrics } from "./sglang/metrics.ts";
import { parseVllmMetrics } from "./vllm/metrics.ts";

/** Reads the metrics page of an engine; null for a page that holds none of its counts. */
export type MetricsReader = (text: string) => EngineMetrics | null;

/** How to read each engine's metrics page. An engine that is not in the map has none that anybody can read. */
export const metricsReaders: ReadonlyMap<EngineName | "none", MetricsReader> = new Map([
  ["vllm", parseVllmMetrics],
  ["sim", parseVllmMetrics],
  ["sglang", parseSglangMetrics],
  ["llamacpp", parseLlamacppMetrics],
]);
