import { copyFile, mkdir, open, readdir, rm, stat, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ShardKey } from "../supervise/shard-state.ts";
import { cleanLines } from "./clean-log.ts";

/** An engine's log beyond this is copied to `.1` and begun anew: at most twice as much is ever kept per start. */
export const logFileMaxBytes = 32 * 1024 * 1024;
/** Starts of one shard whose logs are kept: the present one and the one before. */
const generationsKept = 2;

/**
 * Where engines write their output: `<dir>/<replica>/<rank>/<generation>.log`, one file a start, so that a restart never
 * overwrites the log that says why it was needed.
 */
export function logPath(directory: string, { replicaId, rank, generation }: ShardKey): string {
  return join(shardDirectory(directory, { replicaId, rank }), `${generation}.log`);
}

function shardDirectory(directory: string, { replicaId, rank }: Pick<ShardKey, "replicaId" | "rank">): string {
  return join(directory, encodeURIComponent(replicaId), String(rank));
}

/** Makes room for a start's log and removes those of starts before the previous one. */
export async function prepareLog(directory: string, key: ShardKey): Promise<string> {
  const path = logPath(directory, key);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const older = (await generations(dirname(path))).filter((generation) => generation < key.generation);
  for (const generation of older.slice(0, -(generationsKept - 1))) {
    for (const suffix of ["", ".1"]) await rm(join(dirname(path), `${generation}.log${suffix}`), { force: true });
  }
  return path;
}

/** Generations with a log, oldest first. */
async function generations(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  const found = names.flatMap((name) => /^(\d+)\.log$/.exec(name)?.[1] ?? []);
  return found.map(Number).sort((a, b) => a - b);
}

/** Empties a log that has grown too large, keeping a copy beside it. Its engine appends, so it writes on from 0. */
export async function rotateLog(path: string): Promise<void> {
  await copyFile(path, `${path}.1`);
  await truncate(path);
}

/** Bytes of a file; 0 when there is none. */
export async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return 0;
    throw error;
  }
}

/** The bytes from an offset to the end, at most `maxBytes` of them, the last ones. Empty when there is no file. */
export async function readFrom(path: string, offset: number, maxBytes: number): Promise<Buffer> {
  const size = await sizeOf(path);
  const start = Math.max(offset, size - maxBytes, 0);
  if (size <= start) return Buffer.alloc(0);
  const file = await open(path, "r");
  try {
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** First read of a log's end, and the most that is ever read to find enough lines: some engines print megabytes on one. */
const tailBytes = 1024 * 1024;
const longestTailBytes = 16 * 1024 * 1024;

/**
 * The last lines of a log, clean, oldest first, the copy's before those of the file where the file alone has too few.
 * Invalid UTF-8 reads as U+FFFD. `truncated` says that there is more.
 */
export async function tailOf(path: string, lines: number): Promise<{ lines: string[]; truncated: boolean }> {
  let bytes = tailBytes;
  let { found, hasMore } = await endOf(path, bytes);
  while (hasMore && found.length < lines && bytes < longestTailBytes) {
    bytes *= 4;
    ({ found, hasMore } = await endOf(path, bytes));
  }
  let truncated = hasMore;
  if (found.length < lines && !hasMore) {
    const older = await endOf(`${path}.1`, tailBytes);
    truncated = older.hasMore;
    found = [...older.found, ...found];
  }
  return { lines: found.slice(-lines), truncated: truncated || found.length > lines };
}

async function endOf(path: string, maxBytes: number): Promise<{ found: string[]; hasMore: boolean }> {
  const bytes = await readFrom(path, 0, maxBytes);
  const hasMore = (await sizeOf(path)) > bytes.length;
  const lines = cleanLines(bytes.toString("utf8"));
  // The first line of a cut text has lost its beginning; it stays if it is all there is.
  return { found: hasMore && lines.length > 1 ? lines.slice(1) : lines, hasMore };
}

/** The log of the latest start before this one; null when none is kept. */
export async function previousLog(directory: string, key: ShardKey): Promise<string | null> {
  const before = (await generations(shardDirectory(directory, key))).filter(
    (generation) => generation < key.generation,
  );
  const generation = before.at(-1);
  return generation === undefined ? null : logPath(directory, { ...key, generation });
}
