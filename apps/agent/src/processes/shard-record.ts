import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readJsonFile, writeFileAtomic } from "@llmgw/service";
import { shardExitSchema, shardLaunch } from "@llmgw/wire";
import { z } from "zod";
import { type ShardKey, shardId } from "../supervise/shard-state.ts";

const shardRecordSchema = z.object({
  key: z.object({ replicaId: z.string(), generation: z.int(), rank: z.int() }),
  launch: shardLaunch.nullable(),
  attempt: z.int(),
  token: z.string(),
  bootId: z.string(),
  host: z.string(),
  port: z.int(),
  /** Null between the decision to spawn and the spawn: a process with this token may or may not run. */
  process: z.object({ pid: z.int(), startTime: z.string() }).nullable(),
  /** Wall clock, for people and for machines where a process's age cannot be asked. */
  startedAt: z.iso.datetime(),
  ready: z.boolean(),
  exit: shardExitSchema.nullable(),
});

/** What the agent keeps on disk of one start of a shard, so that its successor finds, knows and reports it. */
export type ShardRecord = z.infer<typeof shardRecordSchema>;

export interface ShardRecords {
  /** All records, and a sentence for each file that could not be read as one (it is left in place). */
  load(): Promise<{ readonly records: readonly ShardRecord[]; readonly problems: readonly string[] }>;
  save(record: ShardRecord): Promise<void>;
  remove(key: ShardKey): Promise<void>;
}

/** Records as files of `directory`, one a start, each replaced in one step. They hold engine keys: mode 0600. */
export async function openShardRecords(directory: string): Promise<ShardRecords> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const pathOf = (key: ShardKey) => join(directory, `${encodeURIComponent(shardId(key))}.json`);
  return {
    load: async () => {
      const records: ShardRecord[] = [];
      const problems: string[] = [];
      for (const name of await readdir(directory)) {
        if (!name.endsWith(".json")) continue;
        const file = await readJsonFile(join(directory, name), shardRecordSchema);
        if (file.kind === "ok") records.push(file.value);
        else if (file.kind === "invalid") problems.push(file.problem);
      }
      return { records, problems };
    },
    save: (record) => writeFileAtomic(pathOf(record.key), `${JSON.stringify(record)}\n`),
    remove: (key) => rm(pathOf(key), { force: true }),
  };
}
