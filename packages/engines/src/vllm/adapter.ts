import type { EngineAdapter } from "../adapter.ts";
import { classifyExit } from "../failures/classify-exit.ts";
import { launchVllm } from "./launch.ts";
import { parseVllmMetrics } from "./metrics.ts";
import { vllmProgress } from "./progress.ts";
import { vllmWork } from "./work.ts";

/** vLLM on one node: `vllm serve`. */
export const vllmAdapter: EngineAdapter = {
  name: "vllm",
  program: { name: "vllm", versionArgs: ["--version"] },
  launch: launchVllm,
  readiness: { healthPath: "/health", modelsPath: "/v1/models" },
  metricsPath: "/metrics",
  progress: vllmProgress,
  classifyExit: (exit) => classifyExit("vllm", exit),
  metrics: parseVllmMetrics,
  work: vllmWork,
};
