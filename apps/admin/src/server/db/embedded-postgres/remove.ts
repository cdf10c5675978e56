import { rm } from "node:fs/promises";
import path from "node:path";
import { readPointer } from "./places.ts";

/**
 * Deletes the database, passwords and settings of the embedded server of an llmgw data folder, also where the data lie
 * outside it. The server must be stopped.
 */
export async function removeEmbeddedPostgres(options: { readonly dataDir: string }): Promise<void> {
  const settingsDir = path.join(path.resolve(options.dataDir), "postgres");
  const pointer = await readPointer(settingsDir);
  if (pointer !== undefined) {
    await rm(pointer.clusterDir, { recursive: true, force: true });
  }
  await rm(settingsDir, { recursive: true, force: true });
}
