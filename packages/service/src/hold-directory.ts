import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { readJsonFile } from "./files.ts";

const holderSchema = z.object({
  pid: z.number().int().positive(),
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
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lockPath = join(directory, "lock");
  const own: Holder = { pid: process.pid, startedAt: await processStart(process.pid) };
  // link() is atomic and fails when the name exists, and the lock is complete the moment it appears.
  const draftPath = uniquePath(lockPath);
  await writeFile(draftPath, JSON.stringify(own), { mode: 0o600, flag: "wx" });
  try {
    while (!(await linked(draftPath, lockPath))) await removeStale(directory, lockPath);
  } finally {
    await rm(draftPath, { force: true });
  }
  return { release: () => rm(lockPath, { force: true }) };
}

async function removeStale(directory: string, lockPath: string): Promise<void> {
  const found = await readHolder(lockPath);
  if (found !== undefined && (await isAlive(found))) throw heldBy(directory, found);
  // Moving the lock aside and looking again keeps two processes that both found it stale from removing each other's.
  const asidePath = uniquePath(lockPath);
  if (!(await moved(lockPath, asidePath))) return;
  const taken = await readHolder(asidePath);
  const isStale = taken === undefined || !(await isAlive(taken));
  if (!isStale) await linked(asidePath, lockPath);
  await rm(asidePath, { force: true });
  if (!isStale) throw heldBy(directory, taken);
}

/** The holder named in a lock, or undefined if the lock is gone or unreadable (a machine that lost power). */
async function readHolder(path: string): Promise<Holder | undefined> {
  const file = await readJsonFile(path, holderSchema);
  return file.kind === "ok" ? file.value : undefined;
}

async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
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

async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

function heldBy(directory: string, { pid }: Holder): ConfigError {
  return new ConfigError([
    `${directory} is in use by process ${pid}: stop it, or set LLMGW_DATA_DIR to another folder for this program`,
  ]);
}

function uniquePath(path: string): string {
  return `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
