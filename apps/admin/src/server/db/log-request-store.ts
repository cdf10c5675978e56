import { z } from "zod";
import type { Database } from "./database.ts";
import { Prisma } from "./generated/client.ts";

const wantedSchema = z.object({
  replicaId: z.string(),
  generation: z.int(),
  rank: z.int(),
  lines: z.int(),
  previous: z.boolean(),
});
const answerSchema = z.object({ lines: z.array(z.string()), truncated: z.boolean() });

export interface StoredLogRequest {
  readonly id: string;
  readonly nodeId: string;
  readonly wanted: z.infer<typeof wantedSchema>;
}
export type StoredLogAnswer = z.infer<typeof answerSchema>;

/** Wishes for log lines where every admin sees them: an agent may poll another one than the one that was asked. */
export interface LogRequestStore {
  add(request: StoredLogRequest): Promise<void>;
  /** Wishes of the last minute that nobody has answered. */
  open(): Promise<readonly StoredLogRequest[]>;
  answer(id: string, answer: StoredLogAnswer): Promise<void>;
  /** Null while there is none. */
  answerOf(id: string): Promise<StoredLogAnswer | null>;
  remove(id: string): Promise<void>;
}

const openMs = 60_000;

/** Wishes are kept until the admin that asked removes them, and no longer than a minute past their use. */
export function logRequestStore(database: Database): LogRequestStore {
  const since = () => new Date(Date.now() - openMs);
  return {
    add: async ({ id, nodeId, wanted }) => {
      await database.logRequest.deleteMany({ where: { askedAt: { lt: since() } } });
      await database.logRequest.create({ data: { id, nodeId, wanted } });
    },
    open: async () => {
      const rows = await database.logRequest.findMany({
        where: { answer: { equals: Prisma.DbNull }, askedAt: { gte: since() } },
      });
      return rows.flatMap(({ id, nodeId, wanted }) => {
        const parsed = wantedSchema.safeParse(wanted);
        return parsed.success ? [{ id, nodeId, wanted: parsed.data }] : [];
      });
    },
    answer: async (id, answer) => {
      await database.logRequest.updateMany({ where: { id }, data: { answer } });
    },
    answerOf: async (id) => {
      const row = await database.logRequest.findUnique({ where: { id } });
      return answerSchema.safeParse(row?.answer).data ?? null;
    },
    remove: async (id) => {
      await database.logRequest.deleteMany({ where: { id } });
    },
  };
}
