import { spawnSync } from "node:child_process";
import type { ProcessEntry, ProcessTable } from "./process-table.ts";

const psTimeoutMs = 5_000;
/** macOS's ps knows no session ids: an engine leads its own group, which serves as well. */
const columns = "pid=,pgid=,stat=,lstart=";

/**
 * The process table where there is no /proc (macOS): what `ps` prints. Environments cannot be read, so a process is
 * known by its pid and its start, to the second.
 */
export function psProcessTable(): ProcessTable {
  return {
    readsTokens: false,
    find: (pid) => parsePs(ps(["-o", columns, "-p", String(pid)])).at(0) ?? null,
    list: () => parsePs(ps(["-A", "-o", columns])),
    shardToken: () => null,
    ageMs: (entry) => {
      const startedAtMs = Date.parse(entry.startTime);
      return Number.isNaN(startedAtMs) ? null : Math.max(0, Date.now() - startedAtMs);
    },
  };
}

/** Reads `ps -o pid=,pgid=,stat=,lstart=` lines; zombies are left out. */
export function parsePs(text: string): ProcessEntry[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
    const [, pid, group, state, startTime] = match ?? [];
    if (startTime === undefined || state?.startsWith("Z") === true) return [];
    return [{ pid: Number(pid), groupId: Number(group), sessionId: Number(group), startTime }];
  });
}

/** ps ends with 1 when no process matches, which is an answer; one that cannot run at all is a fault of the machine. */
function ps(args: readonly string[]): string {
  const { stdout, error } = spawnSync("ps", args, { encoding: "utf8", timeout: psTimeoutMs, env: { ...envForPs } });
  if (error !== undefined) throw new Error("cannot run ps to look at this machine's processes", { cause: error });
  return stdout;
}

/** One date format, whatever the agent's language. */
const envForPs = { PATH: "/usr/bin:/bin", LC_ALL: "C" };
