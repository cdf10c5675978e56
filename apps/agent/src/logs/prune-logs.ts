import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

export interface PruneOptions {
  readonly directory: string;
  /** Replicas of which something is known or wanted here: their logs stay. */
  readonly kept: ReadonlySet<string>;
  readonly nowMs: number;
}

/** How long the logs of a replica that is gone are kept, and of how many such replicas at most. */
const keepMs = 7 * 24 * 3_600_000;
const keepReplicas = 100;

/** Removes the log folders of replicas that are gone: old ones, and the oldest of too many. Answers their names. */
export async function pruneLogs({ directory, kept, nowMs }: PruneOptions): Promise<string[]> {
  const gone: { readonly name: string; readonly atMs: number }[] = [];
  for (const name of await foldersOf(directory)) {
    if (!kept.has(decodeURIComponent(name))) gone.push({ name, atMs: await changedAtMs(join(directory, name)) });
  }
  const newestFirst = gone.toSorted((a, b) => b.atMs - a.atMs);
  const due = newestFirst.filter(({ atMs }, place) => place >= keepReplicas || nowMs - atMs > keepMs);
  for (const { name } of due) await rm(join(directory, name), { recursive: true, force: true });
  return due.map(({ name }) => decodeURIComponent(name));
}

async function foldersOf(directory: string): Promise<string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** When anything in a folder was last written. */
async function changedAtMs(path: string): Promise<number> {
  let latestMs = 0;
  for (const entry of await readdir(path, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) latestMs = Math.max(latestMs, (await stat(join(entry.parentPath, entry.name))).mtimeMs);
  }
  return latestMs;
}
