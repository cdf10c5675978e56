import type { EngineAdapter, LaunchLine, LaunchRequest } from "../adapter.ts";
import { classifyExit } from "../failures/classify-exit.ts";
import { vllmServeArgs } from "../vllm/launch.ts";
import { parseVllmMetrics } from "../vllm/metrics.ts";
import { vllmProgress } from "../vllm/progress.ts";
import { vllmWork } from "../vllm/work.ts";

export interface SimulatorPlace {
  /** How the simulator is started: program and the words before its own flags. */
  readonly command: readonly [program: string, ...args: string[]];
  /** Where simulated engines write the GPU memory they hold, and simulated GPUs read it. */
  readonly claimsDir: string;
}

/** The simulator engine, speaking vLLM's dialect: its flags, its HTTP API, its metrics and its log lines. */
export function simAdapter(place: SimulatorPlace): EngineAdapter {
  return {
    name: "sim",
    program: null,
    launch: (request) => launchSim(place, request),
    readiness: { healthPath: "/health", modelsPath: "/v1/models" },
    metricsPath: "/metrics",
    progress: vllmProgress,
    classifyExit: (exit) => classifyExit("sim", exit),
    metrics: parseVllmMetrics,
    work: vllmWork,
  };
}

function launchSim({ command, claimsDir }: SimulatorPlace, request: LaunchRequest): LaunchLine {
  const [program, ...words] = command;
  // A claim names GPUs; without any (a CPU node) there is no memory to claim.
  const claim =
    request.gpus.length === 0
      ? []
      : [
          "--sim-claims-dir",
          claimsDir,
          "--sim-gpus",
          request.gpus.map((gpu) => gpu.uuid).join(","),
          "--sim-vram-mib",
          String(request.memoryMibPerGpu),
        ];
  return {
    argv: [
      program,
      ...words,
      "--dialect",
      "vllm",
      ...vllmServeArgs({ ...request, extraArgs: [...claim, ...request.extraArgs] }),
    ],
    env: { VLLM_API_KEY: request.apiKey },
  };
}
