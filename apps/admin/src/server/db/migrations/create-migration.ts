import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseError } from "../database-error.ts";
import { diffSchema } from "./diff-schema.ts";
import { lockFileName, scriptName } from "./migration-list.ts";

const lockFileText = `# Written by llmgw migrate --create, for Prisma; keep it under version control.\nprovider = "postgresql"\n`;

/**
 * Writes the migration that leads from the folder's migrations to the Prisma schema. Does not apply it.
 * @param options.name what it does, in snake_case; the folder is `<UTC timestamp>_<name>`, as Prisma names it.
 * @returns the new script's path; undefined when the schema asks for nothing new.
 */
export async function createMigration(options: {
  readonly databaseUrl: string;
  readonly schemaFile: string;
  readonly migrationsDir: string;
  readonly name: string;
  readonly now: Date;
}): Promise<string | undefined> {
  const { migrationsDir, name, now } = options;
  if (!/^[a-z][a-z0-9_]*$/u.test(name)) {
    throw new DatabaseError(
      `"${name}" cannot name a migration: expected lower-case letters, digits and _, such as create_cluster.`,
    );
  }
  await mkdir(migrationsDir, { recursive: true });
  // By difference: the engine's own createMigration finds no shadow database in its WebAssembly build.
  const script = await diffSchema(options);
  if (script === "") {
    return undefined;
  }
  const timestamp = now.toISOString().replace(/\D/gu, "").slice(0, 14);
  const folder = path.join(path.resolve(migrationsDir), `${timestamp}_${name}`);
  const file = path.join(folder, scriptName);
  await mkdir(folder);
  await writeFile(file, `${script}\n`, { flag: "wx" });
  await writeFile(path.join(migrationsDir, lockFileName), lockFileText);
  return file;
}
