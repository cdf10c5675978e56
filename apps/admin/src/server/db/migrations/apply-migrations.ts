import type {
  DiagnoseMigrationHistoryOutput,
  MigrationList,
  SchemaEngine,
} from "@prisma/schema-engine-wasm/schema_engine_bg";
import { DatabaseError } from "../database-error.ts";
import type { DatabaseLog } from "../database-log.ts";
import { readMigrationList } from "./migration-list.ts";
import { withMigrationLock } from "./migration-lock.ts";
import { noFilters, withSchemaEngine } from "./schema-engine.ts";

const defaultLockTimeoutMs = 120_000;

/**
 * Brings a database up to the migrations of a folder with Prisma's own engine, which keeps its history in
 * `_prisma_migrations`. A second call changes nothing; callers in several processes take turns. A migration that was
 * interrupted (its script runs in one transaction, so nothing of it is left) is tried again.
 * @returns the names of the migrations applied by this call.
 * @throws DatabaseError when a migration fails, was edited after it had been applied, or when the database has
 *   migrations that the folder does not know (a newer llmgw has been here).
 */
export async function applyMigrations(options: {
  readonly databaseUrl: string;
  readonly migrationsDir: string;
  readonly log: DatabaseLog;
  /** How long to wait for another process that migrates the same database, ms. */
  readonly lockTimeoutMs?: number;
}): Promise<readonly string[]> {
  const { databaseUrl, migrationsDir, log, lockTimeoutMs = defaultLockTimeoutMs } = options;
  const migrationsList = await readMigrationList(migrationsDir);
  return await withMigrationLock({ databaseUrl, timeoutMs: lockTimeoutMs }, () =>
    withSchemaEngine(databaseUrl, async (engine) => {
      const history = await engine.diagnoseMigrationHistory({
        migrationsList,
        optInToShadowDatabase: false,
        filters: noFilters,
      });
      refuseForeignHistory(history);
      await retractInterrupted(engine, history, log);
      const applied = await apply(engine, migrationsList);
      if (applied.length > 0) {
        log.info({ migrations: applied }, "migrated the database");
      }
      return applied;
    }),
  );
}

function refuseForeignHistory(found: DiagnoseMigrationHistoryOutput): void {
  const { history, failedMigrationNames } = found;
  // One that failed may have been mended.
  const edited = found.editedMigrationNames.filter((name) => !failedMigrationNames.includes(name));
  if (history !== null && history.diagnostic !== "databaseIsBehind") {
    throw new DatabaseError(
      `The database has migrations that this llmgw does not know: ${history.unpersistedMigrationNames.join(", ")}. A newer llmgw has used it; run that one, or restore a backup from before.`,
    );
  }
  if (edited.length > 0) {
    throw new DatabaseError(
      `These migrations were changed after they had been applied to the database: ${edited.join(", ")}. Restore their scripts, and put the change into a new migration.`,
    );
  }
}

async function retractInterrupted(
  engine: SchemaEngine,
  { failedMigrationNames }: DiagnoseMigrationHistoryOutput,
  log: DatabaseLog,
): Promise<void> {
  for (const migrationName of failedMigrationNames) {
    log.warn({ migration: migrationName }, "this migration did not complete the last time; trying it again");
    await engine.markMigrationRolledBack({ migrationName });
  }
}

async function apply(engine: SchemaEngine, migrationsList: MigrationList): Promise<readonly string[]> {
  try {
    return (await engine.applyMigrations({ migrationsList, filters: noFilters })).appliedMigrationNames;
  } catch (cause) {
    throw failure(cause);
  }
}

/** The engine's message is PostgreSQL's words after a line on its own layers, then a trace that names the migration. */
function failure(cause: unknown): DatabaseError {
  const text = cause instanceof Error ? cause.message : String(cause);
  const name = /migration_name="([^"]+)"/u.exec(text)?.[1];
  const [words = ""] = text.split(/\n\s+0: /u);
  const said = /ERROR: [\s\S]*/u.exec(words)?.[0] ?? words;
  return new DatabaseError(
    `The database could not be migrated${name === undefined ? "" : ` by ${name}`}: ${said.trim()}. Nothing of this migration remains; the next start tries it again.`,
    { cause },
  );
}
