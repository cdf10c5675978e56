import type { SimSettings } from "../cli/sim-flags.ts";
import { writeMemoryClaim } from "./memory-claim.ts";

type Claim = NonNullable<SimSettings["claim"]>;

/** The first word of a stray's command line. */
export const STRAY = "--sim-stray";

/** The command line of a process that does nothing but hold memory. */
export function strayWords(claim: SimSettings["claim"]): string[] {
  return claim === undefined ? [STRAY] : [STRAY, claim.directory, claim.gpuUuids.join(","), String(claim.mibPerGpu)];
}

/** Is such a process: it ignores SIGTERM and ends by SIGKILL only, as workers do that re-parent to pid 1. */
export function runStray(words: readonly string[], pid: number): void {
  process.on("SIGTERM", () => undefined);
  const claim = claimOf(words);
  if (claim !== null) {
    writeMemoryClaim(claim.directory, { pid, gpuUuids: claim.gpuUuids, mibPerGpu: claim.mibPerGpu });
  }
  setInterval(() => undefined, 60_000);
}

function claimOf([directory, gpus, mib]: readonly string[]): Claim | null {
  return directory === undefined || gpus === undefined
    ? null
    : { directory, gpuUuids: gpus.split(","), mibPerGpu: Number(mib) };
}
