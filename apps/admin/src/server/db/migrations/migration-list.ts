import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { MigrationDirectory, MigrationList } from "@prisma/schema-engine-wasm/schema_engine_bg";
import { DatabaseError } from "../database-error.ts";
import { readFileIfPresent } from "../read-file-if-present.ts";

export const lockFileName = "migration_lock.toml";
export const scriptName = "migration.sql";

/**
 * Reads a migrations folder in Prisma's layout: `<timestamp>_<name>/migration.sql` beside `migration_lock.toml`.
 * @throws DatabaseError for a migration folder without its script.
 */
export async function readMigrationList(migrationsDir: string): Promise<MigrationList> {
  const baseDir = path.resolve(migrationsDir);
  const entries = await readdir(baseDir, { withFileTypes: true });
  // Byte order, as Prisma sorts them.
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();
  return {
    baseDir,
    lockfile: {
      path: lockFileName,
      content: (await readFileIfPresent(path.join(baseDir, lockFileName))) ?? null,
    },
    shadowDbInitScript: "",
    migrationDirectories: await Promise.all(names.map((name) => readMigration(baseDir, name))),
  };
}

async function readMigration(baseDir: string, name: string): Promise<MigrationDirectory> {
  const file = path.join(baseDir, name, scriptName);
  try {
    const value = await readFile(file, "utf8");
    return { path: name, migrationFile: { path: scriptName, content: { tag: "ok", value } } };
  } catch (cause) {
    throw new DatabaseError(`The migration ${name} has no readable script at ${file}.`, { cause });
  }
}
