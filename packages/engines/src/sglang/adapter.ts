import type { EngineAdapter } from "../adapter.ts";
import { classifyExit } from "../failures/classify-exit.ts";
import { launchSglang } from "./launch.ts";
import { sglangProgress } from "./progress.ts";
import { sglangWork } from "./work.ts";

/** SGLang, on one machine or several: `sglang serve`. */
export const sglangAdapter: EngineAdapter = {
  name: "sglang",
  program: { name: "sglang", versionArgs: ["version"] },
  launch: launchSglang,
  /**
   * `/health` generates a token, which proves that it can answer. It is asked until it does and not again: its request
   * would stand among the engine's own counts. Ranks above 0 run a server that says 200 whatever the model does.
   */
  readiness: (rank) =>
    rank === 0
      ? { kind: "http", healthPath: "/health", alivePath: "/v1/models", modelsPath: "/v1/models" }
      : { kind: "runs" },
  metricsPath: "/metrics",
  progress: sglangProgress,
  classifyExit: (exit) => classifyExit("sglang", exit),
  work: sglangWork,
};
