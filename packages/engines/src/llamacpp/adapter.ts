import type { EngineAdapter } from "../adapter.ts";
import { classifyExit } from "../failures/classify-exit.ts";
import { launchLlamacpp } from "./launch.ts";
import { llamacppProgress } from "./progress.ts";
import { llamacppWork } from "./work.ts";

/**
 * llama.cpp: `llama-server`, with RPC workers as the other processes of a replica that spans machines. It does not
 * drain: SIGTERM freezes what is in flight and the process lives on until its last client leaves, so it is told to stop
 * only when idle, and killed after a bound.
 */
export const llamacppAdapter: EngineAdapter = {
  name: "llamacpp",
  program: { name: "llama-server", versionArgs: ["--version"] },
  launch: launchLlamacpp,
  readiness: (rank) =>
    rank === 0
      ? { kind: "http", healthPath: "/health", alivePath: "/health", modelsPath: "/v1/models" }
      : { kind: "listens" },
  metricsPath: "/metrics",
  progress: llamacppProgress,
  classifyExit: (exit) => classifyExit("llamacpp", exit),
  work: llamacppWork,
};
