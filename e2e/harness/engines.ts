import { readdirSync, readlinkSync } from "node:fs";
import { waitFor } from "./wait.ts";

/** Pids of engines that write their log below this folder: how a test finds the ones of its own cluster (Linux). */
export function enginePids(dir: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => logOf(pid).startsWith(`${dir}/node-`));
}

/** SIGKILL to every engine that is left, as the machine's power would do; resolves when they are gone. */
export async function endEngines(dir: string): Promise<void> {
  for (const pid of enginePids(dir)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it ended in the meantime
    }
  }
  await waitFor("the engines to be gone", () => enginePids(dir).length === 0, { timeoutMs: 10_000 });
}

function logOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/1`);
  } catch {
    return ""; // gone, or not ours to look at
  }
}
