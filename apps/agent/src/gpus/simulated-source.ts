import type { GpuSpec } from "@llmgw/service";
import { readClaims } from "./claims.ts";
import type { GpuSource } from "./gpu-source.ts";
import { simulatedFacts } from "./simulated.ts";
import { equalSimulatedGpus, readSimulatedFile, type SimulatedFile } from "./simulated-file.ts";

export interface SimulatedSourceOptions {
  readonly spec: Exclude<GpuSpec, { kind: "auto" }>;
  readonly nodeName: string;
  readonly claimsDir: string;
  readonly isAlive: (pid: number) => boolean;
  readonly shardOfPid: (pid: number) => string | null;
}

/** Simulated GPUs. A `sim:FILE` is read anew at each look, so that a GPU can be broken while the agent runs. */
export function simulatedSource({ spec, nodeName, claimsDir, isAlive, shardOfPid }: SimulatedSourceOptions): GpuSource {
  const read = async (): Promise<SimulatedFile> =>
    spec.kind === "simulated"
      ? { kind: "ok", gpus: equalSimulatedGpus(spec.count, spec.totalMib) }
      : await readSimulatedFile(spec.path);
  return {
    simulated: true,
    look: async () => {
      const file = await read();
      if (file.kind === "failed") return file;
      const claims = await readClaims(claimsDir, isAlive);
      return { kind: "seen", gpus: simulatedFacts({ nodeName, gpus: file.gpus, claims, shardOfPid }), warning: null };
    },
  };
}
