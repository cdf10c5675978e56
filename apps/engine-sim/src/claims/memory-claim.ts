import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** GPU memory that a simulated engine holds. The file's name is `<pid>.json`. */
export interface MemoryClaim {
  readonly pid: number;
  readonly gpuUuids: readonly string[];
  readonly mibPerGpu: number;
}

/**
 * Writes the claim where the simulated GPUs read it, in one step, so a reader never sees half a file. A process that
 * was killed leaves its file behind: readers must check that the pid is alive.
 *
 * @returns what removes the claim; safe to call more than once
 */
export function writeMemoryClaim(directory: string, claim: MemoryClaim): () => void {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${claim.pid}.json`);
  const partial = join(directory, `.${claim.pid}.json.partial`);
  writeFileSync(partial, `${JSON.stringify(claim)}\n`);
  renameSync(partial, path);
  return () => rmSync(path, { force: true });
}
