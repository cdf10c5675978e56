import { access, readdir, rm } from "node:fs/promises";
import path from "node:path";
import type { DatabaseLog } from "../database-log.ts";
import { clearEarlierServer } from "./earlier-server.ts";
import { readPointer } from "./places.ts";

/**
 * Deletes root's temporary clusters whose llmgw data folder is gone, stopping a server that still runs on one: a test
 * that deletes its data folder does not know of the cluster outside it. Clusters that are not temporary are never
 * deleted, since a data folder may be absent only for now (a disk that is not mounted).
 */
export async function removeLeftovers(options: {
  /** Folder of those clusters; undefined: none are looked at. */
  readonly temporaryClusters: string | undefined;
  readonly log: DatabaseLog;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { temporaryClusters, log, signal } = options;
  if (temporaryClusters === undefined) {
    return;
  }
  for (const name of await readdir(temporaryClusters)) {
    const clusterDir = path.join(temporaryClusters, name);
    const pointer = await readPointer(clusterDir);
    if (pointer !== undefined && !(await exists(pointer.llmgwDataDir))) {
      log.debug({ clusterDir }, "deleting the database of a temporary data folder that is gone");
      await clearEarlierServer({ dataDir: path.join(clusterDir, "data"), log, signal });
      await rm(clusterDir, { recursive: true, force: true });
    }
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return false;
    }
    throw error;
  }
}
