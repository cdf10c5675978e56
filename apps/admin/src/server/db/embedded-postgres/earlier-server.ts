import { writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../database-log.ts";
import { readFileIfPresent } from "../read-file-if-present.ts";
import { waitUntil } from "../wait-until.ts";
import { commandLineOf } from "./process-table.ts";

/** What an earlier run left behind on a data folder. */
type EarlierServer =
  | { readonly kind: "none" }
  /** The process of the lock file is gone; PostgreSQL clears such a lock by itself. */
  | { readonly kind: "dead" }
  /** Another program has the lock file's process id by now. */
  | { readonly kind: "unrelated" }
  /** A server still runs on the data. */
  | { readonly kind: "running"; readonly pid: number };

const stops = [
  /** Fast shutdown: ends sessions and writes a checkpoint. */
  { name: "SIGINT", timeoutMs: 30_000 },
  /** Immediate shutdown: the next start replays the log. */
  { name: "SIGQUIT", timeoutMs: 10_000 },
] as const;

/**
 * Makes sure that no earlier server holds the data folder: stops one that a killed llmgw left running, and does away
 * with a lock whose process id another program has got. The caller holds the settings folder, so no living llmgw
 * looks after that server.
 * @throws DatabaseError when it cannot be stopped.
 */
export async function clearEarlierServer(options: {
  readonly dataDir: string;
  readonly log: DatabaseLog;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { dataDir, log, signal } = options;
  const found = await findEarlierServer(dataDir);
  if (found.kind === "running") {
    log.warn({ pid: found.pid }, "stopping the database server that an earlier llmgw left behind");
    await stopEarlierServer(found.pid, { dataDir, signal });
  } else if (found.kind === "unrelated") {
    await disownLock(dataDir);
  }
}

/** Looks at the lock file `postmaster.pid` and at the process it names. */
async function findEarlierServer(dataDir: string): Promise<EarlierServer> {
  const pid = Number((await readFileIfPresent(lockFile(dataDir)))?.split("\n", 1)[0]);
  if (!Number.isInteger(pid) || pid <= 0) {
    return { kind: "none" };
  }
  const commandLine = await commandLineOf(pid);
  if (commandLine === undefined) {
    return { kind: "dead" };
  }
  return `${commandLine} `.includes(` -D ${dataDir} `) ? { kind: "running", pid } : { kind: "unrelated" };
}

async function stopEarlierServer(
  pid: number,
  options: { readonly dataDir: string; readonly signal: AbortSignal },
): Promise<void> {
  const gone = async () => (await findEarlierServer(options.dataDir)).kind !== "running";
  for (const { name, timeoutMs } of stops) {
    sendSignal(pid, name);
    if (await waitUntil(gone, { timeoutMs, intervalMs: 50, signal: options.signal })) {
      return;
    }
  }
  throw new DatabaseError(
    `A database server that an earlier llmgw left behind (process ${pid}, data in ${options.dataDir}) does not stop. End it, then start again.`,
  );
}

function sendSignal(pid: number, name: "SIGINT" | "SIGQUIT"): void {
  try {
    process.kill(pid, name);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ESRCH") {
      return;
    }
    throw new DatabaseError(
      `Cannot stop the database server of an earlier llmgw (process ${pid}): it runs as another user. Stop it as that user, then start again.`,
      { cause },
    );
  }
}

/**
 * PostgreSQL refuses a lock file whose process id is in use, whatever that process is. It takes one that names its own
 * parent for stale, and still looks whether server processes hold the old shared memory. Deleting the file would skip
 * that second look.
 */
async function disownLock(dataDir: string): Promise<void> {
  const text = (await readFileIfPresent(lockFile(dataDir))) ?? "";
  await writeFile(lockFile(dataDir), [String(process.pid), ...text.split("\n").slice(1)].join("\n"));
}

function lockFile(dataDir: string): string {
  return path.join(dataDir, "postmaster.pid");
}
