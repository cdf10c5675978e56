import { readdirSync, readFileSync } from "node:fs";
import { type ProcessEntry, type ProcessTable, shardTokenVariable } from "./process-table.ts";

/** Clock ticks a second of /proc times: USER_HZ, 100 on every architecture Linux runs on today (proc(5)). */
const ticksPerSecond = 100;

/** The process table of Linux, from /proc. `root` is /proc, or a copy of it in tests. */
export function linuxProcessTable(root = "/proc"): ProcessTable {
  const find = (pid: number) => parseStat(readOrNull(`${root}/${pid}/stat`));
  return {
    readsTokens: true,
    find,
    list: () =>
      readdirSync(root)
        .filter((name) => /^\d+$/.test(name))
        .flatMap((name) => find(Number(name)) ?? []),
    shardToken: (pid) => {
      const environment = readOrNull(`${root}/${pid}/environ`)?.split("\0") ?? [];
      const prefix = `${shardTokenVariable}=`;
      return environment.find((entry) => entry.startsWith(prefix))?.slice(prefix.length) ?? null;
    },
    ageMs: (entry) => {
      const uptimeSeconds = Number(readOrNull(`${root}/uptime`)?.split(" ", 1)[0] ?? Number.NaN);
      const ageMs = (uptimeSeconds - Number(entry.startTime) / ticksPerSecond) * 1000;
      return Number.isFinite(ageMs) ? Math.max(0, ageMs) : null;
    },
  };
}

/** Reads one line of /proc/PID/stat (proc(5)); null for a zombie, a dead process or no line. */
export function parseStat(stat: string | null): ProcessEntry | null {
  if (stat === null) return null;
  // The second field is the command in brackets and may hold spaces and brackets: count from the last one.
  const pid = Number(stat.slice(0, stat.indexOf(" ")));
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, , group, session] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined || ["Z", "X", "x"].includes(state)) return null;
  return { pid, groupId: Number(group), sessionId: Number(session), startTime };
}

/** Processes end while we look, and others' environments are not ours to read: both are "not there" to the caller. */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (
      error instanceof Error &&
      "code" in error &&
      ["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(String(error.code))
    ) {
      return null;
    }
    throw error;
  }
}
