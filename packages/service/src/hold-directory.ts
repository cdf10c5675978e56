import { randomBytes } from "node:crypto";
import { access, constants, link, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { readJsonFile, writeFileAtomic } from "./files.ts";

// The lock is a row of files lock.1, lock.2, … of which only the highest counts. It belongs to the live process named in
// it. To take over from a dead holder N, link N + 1: of many that try, one succeeds, and whoever read the row too long
// ago finds a higher number after its own link and gives way. The highest is never removed, not even by a release, so no
// number is held twice. (One file that is removed when stale cannot do this: a slow remover removes its successor's.)

const holderSchema = z.object({
  /** Null once released. */
  pid: z.number().int().positive().nullable(),
  /** Tells a process from a later one with the same number; null where the system does not say. */
  startedAt: z.string().nullable(),
});
type Holder = z.output<typeof holderSchema>;

export interface HeldDirectory {
  /** Lets the folder go. The lock of a process that died without this is taken over by the next one. */
  release(): Promise<void>;
}

/**
 * Makes this process the only user of a data folder, which is created (0700) if absent. Throws a `ConfigError` naming the
 * pid when a live process holds it. The guard is for one machine: it does not see processes of other hosts or containers.
 */
export async function holdDirectory(directory: string): Promise<HeldDirectory> {
  await makeDirectory(directory);
  const own: Holder = { pid: process.pid, startedAt: await processStart(process.pid) };
  // A link is atomic, fails when the name exists, and makes the lock appear complete.
  const draftPath = join(directory, `lock-draft.${process.pid}.${randomBytes(4).toString("hex")}`);
  await writeFile(draftPath, JSON.stringify(own), { mode: 0o600, flag: "wx" });
  try {
    for (;;) {
      const held = await tryToHold(directory, draftPath);
      if (held !== undefined) return held;
    }
  } finally {
    await rm(draftPath, { force: true });
  }
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : String(error);
    const problem =
      code === "EEXIST" || code === "ENOTDIR" ? "is a file or lies below one" : `cannot be used (${String(code)})`;
    throw new ConfigError([
      `the data folder ${directory} ${problem}: give a folder that this user can write to (LLMGW_DATA_DIR)`,
    ]);
  }
}

/** One attempt; undefined when another process moved the row on meanwhile, so that each retry is someone's progress. */
async function tryToHold(directory: string, draftPath: string): Promise<HeldDirectory | undefined> {
  const highest = Math.max(0, ...(await lockNumbers(directory)));
  const holder = await readJsonFile(lockPath(directory, highest), holderSchema);
  // An unreadable lock is what a machine that lost power leaves: nobody holds it.
  if (holder.kind === "ok" && (await isAlive(holder.value))) {
    throw new ConfigError([
      `${directory} is in use by process ${holder.value.pid}: stop it, or set LLMGW_DATA_DIR to another folder for this program`,
    ]);
  }
  const own = highest + 1;
  const ownPath = lockPath(directory, own);
  if (!(await linked(draftPath, ownPath))) return undefined;
  const others = (await lockNumbers(directory)).filter((number) => number !== own);
  if (others.some((number) => number > own)) {
    await rm(ownPath, { force: true });
    return undefined;
  }
  await Promise.all(others.map((number) => rm(lockPath(directory, number), { force: true })));
  const released: Holder = { pid: null, startedAt: null };
  return { release: () => writeFileAtomic(ownPath, JSON.stringify(released)) };
}

async function lockNumbers(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names.flatMap((name) => {
    const digits = /^lock\.(\d+)$/.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

function lockPath(directory: string, number: number): string {
  return join(directory, `lock.${number}`);
}

async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  if (pid === null) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (hasCode(error, "ESRCH")) return false;
    if (!hasCode(error, "EPERM")) throw error;
  }
  return startedAt === null || (await processStart(pid)) === startedAt;
}

/** A process's start: its tick since boot (field 22 of /proc/PID/stat, proc(5)) with the boot's id; null off Linux. */
async function processStart(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const bootId = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    // The second field is the command in brackets and may hold spaces: count from the last bracket.
    const fieldsFromThird = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return `${bootId}/${fieldsFromThird[19]}`;
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ESRCH")) return null;
    throw error;
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
