import { readFileSync } from "node:fs";
import type { Clock } from "@llmgw/service";
import { readJsonFile, writeFileAtomic } from "@llmgw/service";
import { z } from "zod";

const noted = z.array(z.object({ name: z.string(), pid: z.int().positive(), startedAt: z.string() }));
type Noted = z.infer<typeof noted>;

/** A process's start tick (field 22 of /proc/PID/stat, proc(5)); null when it is gone or the system has no /proc. */
function startedAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null; // no such process (any more)
  }
}

/** Notes which children run, so that the next start can end them if this supervisor is killed. */
export async function noteChildren(file: string, children: readonly { name: string; pid: number }[]): Promise<void> {
  const rows: Noted = children.flatMap(({ name, pid }) => {
    const at = startedAt(pid);
    return at === null ? [] : [{ name, pid, startedAt: at }];
  });
  await writeFileAtomic(file, JSON.stringify(rows), { mode: 0o600 });
}

/**
 * Ends the children of a supervisor that was killed. Each is recognised by pid and start time, so that a process that
 * got the same pid later is never signalled. Engines are not among them: agents own those and adopt them.
 */
export async function endLeftovers(file: string, clock: Clock, signal: AbortSignal): Promise<readonly string[]> {
  const found = await readJsonFile(file, noted);
  const alive = (found.kind === "ok" ? found.value : []).filter((row) => startedAt(row.pid) === row.startedAt);
  for (const kill of ["SIGTERM", "SIGKILL"] as const) {
    for (const row of alive) if (startedAt(row.pid) === row.startedAt) process.kill(row.pid, kill);
    for (let waited = 0; waited < 5_000 && alive.some((row) => startedAt(row.pid) === row.startedAt); waited += 50) {
      await clock.sleep(50, signal);
    }
  }
  return alive.map((row) => row.name);
}
