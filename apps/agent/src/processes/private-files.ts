import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ShardKey, shardId } from "../supervise/shard-state.ts";

/** The folder of one start of a shard for files that hold its key. */
export function privateDirOf(directory: string, key: ShardKey): string {
  return join(directory, encodeURIComponent(shardId(key)));
}

/** Writes what an engine is pointed to, readable for this user only. No files: no folder. */
export async function preparePrivateFiles(
  directory: string,
  files: readonly { readonly path: string; readonly text: string }[],
): Promise<void> {
  if (files.length === 0) return;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const { path, text } of files) await writeFile(path, text, { mode: 0o600 });
}

export async function removePrivateFiles(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}
