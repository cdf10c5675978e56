import { DatabaseError } from "../database-error.ts";
import { databaseErrorCode, withConnection } from "../with-connection.ts";

/** The number under which Prisma's own tools lock a database while they migrate it: they and llmgw take turns. */
const lockNumber = 72_707_369;

/**
 * Runs `work` while no other process migrates the database. The lock belongs to a transaction that stays open on a
 * connection of its own, so that it also holds behind a pooler that gives each transaction another connection.
 * @throws DatabaseError when another process still holds it after `timeoutMs`.
 */
export async function withMigrationLock<T>(
  options: { readonly databaseUrl: string; readonly timeoutMs: number },
  work: () => Promise<T>,
): Promise<T> {
  return await withConnection(options.databaseUrl, async (client) => {
    await client.query("BEGIN");
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    await client.query(`SET LOCAL lock_timeout = ${Math.ceil(options.timeoutMs)}`);
    try {
      await client.query("SELECT pg_advisory_xact_lock($1)", [lockNumber]);
    } catch (cause) {
      if (databaseErrorCode(cause) !== "55P03") {
        throw cause;
      }
      throw new DatabaseError(
        `Another process has been migrating the database for ${options.timeoutMs / 1000} s. Wait until it is done and start again; if it hangs, end it.`,
        { cause },
      );
    }
    const result = await work();
    await client.query("COMMIT");
    return result;
  });
}
