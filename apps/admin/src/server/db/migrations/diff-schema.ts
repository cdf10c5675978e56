import { readFile } from "node:fs/promises";
import path from "node:path";
import { readMigrationList } from "./migration-list.ts";
import { noFilters, withSchemaEngine } from "./schema-engine.ts";

/**
 * Compares what the migrations build with what the Prisma schema says.
 * @param options.databaseUrl a server where the role may make databases: the migrations run in one made for the
 *   purpose and dropped afterwards. The database named here is not touched.
 * @returns the SQL that would lead from the migrations to the schema; empty when they agree. What the schema language
 *   cannot say (triggers, functions, checks) is not compared.
 */
export async function diffSchema(options: {
  readonly databaseUrl: string;
  readonly schemaFile: string;
  readonly migrationsDir: string;
}): Promise<string> {
  const file = path.resolve(options.schemaFile);
  const content = await readFile(file, "utf8");
  const migrations = await readMigrationList(options.migrationsDir);
  const { stdout } = await withSchemaEngine(options.databaseUrl, (engine) =>
    engine.diff({
      from: migrations.migrationDirectories.length === 0 ? { tag: "empty" } : { tag: "migrations", ...migrations },
      to: { tag: "schemaDatamodel", files: [{ path: file, content }] },
      script: true,
      exitCode: true,
      filters: noFilters,
    }),
  );
  const script = (stdout ?? "").trim();
  return script === "-- This is an empty migration." ? "" : script;
}
