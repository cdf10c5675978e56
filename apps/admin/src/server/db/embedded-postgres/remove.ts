import { rm } from "node:fs/promises";
import path from "node:path";
import { holdDirectory } from "@llmgw/service";
import type { DatabaseLog } from "../database-log.ts";
import { clearEarlierServer } from "./earlier-server.ts";
import { readPointer } from "./places.ts";

/**
 * Deletes the database, passwords and settings of the embedded server of an llmgw data folder, also where the data lie
 * outside it. A server that a killed llmgw left running on them is stopped first.
 * @throws ConfigError while a living llmgw runs the server.
 */
export async function removeEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly log: DatabaseLog;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { log, signal } = options;
  const settingsDir = path.join(path.resolve(options.dataDir), "postgres");
  const held = await holdDirectory(settingsDir);
  try {
    const outside = (await readPointer(settingsDir))?.clusterDir;
    for (const clusterDir of outside === undefined ? [settingsDir] : [settingsDir, outside]) {
      await clearEarlierServer({ dataDir: path.join(clusterDir, "data"), log, signal });
    }
    if (outside !== undefined) {
      await rm(outside, { recursive: true, force: true });
    }
  } finally {
    await held.release();
  }
  await rm(settingsDir, { recursive: true, force: true });
}
