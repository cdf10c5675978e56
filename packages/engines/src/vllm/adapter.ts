import type { EngineAdapter } from "../adapter.ts";
import { classifyExit } from "../failures/classify-exit.ts";
import { launchVllm } from "./launch.ts";
import { vllmProgress } from "./progress.ts";
import { vllmWork } from "./work.ts";

/** vLLM, on one machine or several: `vllm serve`. */
export const vllmAdapter: EngineAdapter = {
  name: "vllm",
  program: { name: "vllm", versionArgs: ["--version"] },
  launch: launchVllm,
  // A headless process has no listener: neither health nor metrics.
  readiness: (rank) =>
    rank === 0
      ? { kind: "http", healthPath: "/health", alivePath: "/health", modelsPath: "/v1/models" }
      : { kind: "runs" },
  metricsPath: "/metrics",
  progress: vllmProgress,
  classifyExit: (exit) => classifyExit("vllm", exit),
  work: vllmWork,
};
