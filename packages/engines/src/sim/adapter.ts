import type { EngineName } from "@llmgw/domain";
import type { EngineAdapter, LaunchLine, LaunchRequest } from "../adapter.ts";

export interface SimulatorPlace {
  /** How the simulator is started: program and the words before its own flags. */
  readonly command: readonly [program: string, ...args: string[]];
  /** Where simulated engines write the GPU memory they hold, and simulated GPUs read it. */
  readonly claimsDir: string;
}

/**
 * An engine as a simulated node runs it: the engine's own launch line, given to the simulator in that engine's dialect,
 * so that what is tested is what a real node starts. Logs, metrics and exits are read as the real engine's.
 *
 * @param name under which it is known; `sim` is the simulator speaking vLLM's dialect
 */
export function simulated(real: EngineAdapter, place: SimulatorPlace, name: EngineName = real.name): EngineAdapter {
  return { ...real, name, program: null, launch: (request) => launchSimulated(real, place, request) };
}

function launchSimulated(
  real: EngineAdapter,
  { command, claimsDir }: SimulatorPlace,
  request: LaunchRequest,
): LaunchLine {
  // A claim names GPUs; without any (a CPU node) there is no memory to claim.
  const claim =
    request.gpus.length === 0
      ? []
      : [
          ...["--sim-claims-dir", claimsDir, "--sim-gpus", request.gpus.map((gpu) => gpu.uuid).join(",")],
          ...["--sim-vram-mib", String(request.memoryMibPerGpu)],
        ];
  const line = real.launch(request);
  // llama.cpp is two programs, so the dialect alone does not say which.
  const words = line.argv[0] === real.name ? line.argv.slice(1) : line.argv;
  return {
    argv: [...command, "--dialect", real.name, ...words, ...claim],
    env: line.env,
    files: line.files,
    startsAfter: line.startsAfter,
  };
}
