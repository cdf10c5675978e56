import { readJsonFile, writeFileAtomic } from "@llmgw/service";
import { shardLaunch, shardStop } from "@llmgw/wire";
import { z } from "zod";
import { type DesiredState, nothingDesired } from "../supervise/shard-state.ts";

const desiredSchema = z.object({
  clusterId: z.string().nullable(),
  version: z.int().min(0),
  run: z.array(shardLaunch),
  stop: z.array(shardStop),
});

export interface DesiredFile {
  readonly desired: DesiredState;
  /** Why the file could not be used; null when it could, or when there is none. */
  readonly problem: string | null;
}

/** The last desired state that was carried out; nothing when there is none, or when it is damaged. */
export async function readDesired(path: string): Promise<DesiredFile> {
  const file = await readJsonFile(path, desiredSchema);
  if (file.kind === "ok") return { desired: file.value, problem: null };
  return { desired: nothingDesired, problem: file.kind === "invalid" ? file.problem : null };
}

/** Keeps a desired state for a successor that finds no admin. It holds engine keys: mode 0600. */
export async function writeDesired(path: string, desired: DesiredState): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(desired)}\n`);
}
