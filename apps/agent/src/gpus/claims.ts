import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile } from "@llmgw/service";
import { z } from "zod";

const claimSchema = z.object({ pid: z.int().positive(), gpuUuids: z.array(z.string()), mibPerGpu: z.number().min(0) });

/** GPU memory that a simulated engine holds. */
export type Claim = z.infer<typeof claimSchema>;

/**
 * The claims of simulated engines that are alive: files `<pid>.json` of a folder. A killed engine leaves its file
 * behind, as a dead process's memory is free without it saying so.
 */
export async function readClaims(directory: string, isAlive: (pid: number) => boolean): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const name of await namesIn(directory)) {
    if (!/^\d+\.json$/.test(name)) continue;
    const file = await readJsonFile(join(directory, name), claimSchema);
    if (file.kind === "ok" && isAlive(file.value.pid)) claims.push(file.value);
  }
  return claims;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
