import { PrismaPg } from "@prisma/adapter-pg";
import type { Database } from "./database.ts";
import type { DatabaseLog } from "./database-log.ts";
import { PrismaClient } from "./generated/client.ts";

const connectTimeoutMs = 10_000;

/**
 * Makes the database client. Connections are opened when queries need them and opened anew after a break, so the
 * client outlives restarts of the database; a query that a break interrupts fails.
 * @param options.poolSize most connections open at once.
 * @returns a client to be closed by `$disconnect()`.
 */
export function createPrisma(options: {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly log: DatabaseLog;
}): Database {
  const { databaseUrl, poolSize, log } = options;
  const onBreak = (error: Error) => log.warn({ error }, "a database connection broke");
  const adapter = new PrismaPg(
    {
      connectionString: databaseUrl,
      max: poolSize,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: "llmgw",
    },
    { onPoolError: onBreak, onConnectionError: onBreak },
  );
  return new PrismaClient({ adapter });
}
