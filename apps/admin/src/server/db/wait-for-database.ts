import { escapeIdentifier } from "pg";
import { parseDatabaseUrl, withDatabase } from "./address.ts";
import { DatabaseError } from "./database-error.ts";
import type { DatabaseLog } from "./database-log.ts";
import { waitUntil } from "./wait-until.ts";
import { databaseErrorCode, withConnection } from "./with-connection.ts";

/** PostgreSQL 14 is the oldest version that llmgw is made for. */
const oldestVersion = 140_000;
/** SQLSTATE of what waiting does not mend: wrong password, unknown role, no right to connect, no pg_hba entry. */
const hopeless: ReadonlySet<string> = new Set(["28P01", "28000", "42501"]);

/**
 * Waits until the database of `databaseUrl` accepts connections, making the database when the server has none of that
 * name.
 * @throws DatabaseError when it does not within `timeoutMs`, refuses the login, is too old, or may not be made.
 */
export async function waitForDatabase(options: {
  readonly databaseUrl: string;
  readonly timeoutMs: number;
  readonly log: DatabaseLog;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { databaseUrl, timeoutMs, log, signal } = options;
  const { shown } = parseDatabaseUrl(databaseUrl);
  let last: unknown;
  let told = false;
  const attempt = async () => {
    try {
      await checkVersion(databaseUrl, shown);
      return true;
    } catch (error) {
      if (databaseErrorCode(error) === "3D000") {
        await createDatabase(databaseUrl, log);
        return false;
      }
      if (error instanceof DatabaseError || hopeless.has(databaseErrorCode(error) ?? "")) {
        throw refusal(error, shown);
      }
      last = error;
      if (!told) {
        told = true;
        log.info({ database: shown, error: describe(error) }, "waiting for the database");
      }
      return false;
    }
  };
  if (!(await waitUntil(attempt, { timeoutMs, intervalMs: 100, signal }))) {
    throw new DatabaseError(
      `The database at ${shown} did not accept a connection within ${timeoutMs / 1000} s (${describe(last)}). Check that PostgreSQL runs there and that DATABASE_URL names it.`,
      { cause: last },
    );
  }
}

async function checkVersion(databaseUrl: string, shown: string): Promise<void> {
  await withConnection(databaseUrl, async (client) => {
    const { rows } = await client.query<{ number: string; text: string }>(
      "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS text",
    );
    if (Number(rows[0]?.number) < oldestVersion) {
      throw new DatabaseError(`The database at ${shown} is PostgreSQL ${rows[0]?.text}; llmgw needs 14 or newer.`);
    }
  });
}

async function createDatabase(databaseUrl: string, log: DatabaseLog): Promise<void> {
  const { database, shown } = parseDatabaseUrl(databaseUrl);
  try {
    await withConnection(withDatabase(databaseUrl, "postgres"), (client) =>
      client.query(`CREATE DATABASE ${escapeIdentifier(database)}`),
    );
    log.info({ database: shown }, "made the database");
  } catch (cause) {
    // Another process made it meanwhile: duplicate_database, or unique_violation when both were at it.
    if (["42P04", "23505"].includes(databaseErrorCode(cause) ?? "")) {
      return;
    }
    throw new DatabaseError(
      `There is no database "${database}" at ${shown}, and it cannot be made (${describe(cause)}). Make it with: CREATE DATABASE ${escapeIdentifier(database)}; or name another one in DATABASE_URL.`,
      { cause },
    );
  }
}

function refusal(error: unknown, shown: string): Error {
  return error instanceof DatabaseError
    ? error
    : new DatabaseError(`The database at ${shown} refuses the login of DATABASE_URL (${describe(error)}).`, {
        cause: error,
      });
}

function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return describe(error.errors[0]);
  }
  return error instanceof Error ? error.message : String(error);
}
