import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createLogger } from "@llmgw/service";
import { expect, inject, onTestFinished, test } from "vitest";
import { withDatabase } from "../address.ts";
import { testDatabase } from "../testing/test-database.ts";
import { waitForDatabase } from "../wait-for-database.ts";
import { withConnection } from "../with-connection.ts";
import { applyMigrations } from "./apply-migrations.ts";
import { createMigration } from "./create-migration.ts";
import { diffSchema } from "./diff-schema.ts";

const log = createLogger({ name: "test", level: "silent" });
const prismaDir = fileURLToPath(new URL("../../../../../../prisma", import.meta.url));
const schemaFile = path.join(prismaDir, "schema.prisma");
const migrationsDir = path.join(prismaDir, "migrations");

async function folder(scripts: Readonly<Record<string, string>>): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), "llmgw-migrations-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  await writeFile(path.join(dir, "migration_lock.toml"), 'provider = "postgresql"\n');
  for (const [name, script] of Object.entries(scripts)) {
    await mkdir(path.join(dir, name));
    await writeFile(path.join(dir, name, "migration.sql"), script);
  }
  return dir;
}

test("the migrations build what schema.prisma says", async () => {
  expect(await diffSchema({ databaseUrl: inject("postgres").url, schemaFile, migrationsDir })).toBe("");
});

test("migrating a second time changes nothing", async () => {
  await using database = await testDatabase({ migrated: false });
  const first = await applyMigrations({ databaseUrl: database.url, migrationsDir, log });
  expect(first.length).toBeGreaterThan(0);
  expect(await applyMigrations({ databaseUrl: database.url, migrationsDir, log })).toEqual([]);
});

test("of several that migrate at once, one does it and the others find it done", async () => {
  await using database = await testDatabase({ migrated: false });
  const outcomes = await Promise.all(
    [1, 2, 3].map(() => applyMigrations({ databaseUrl: database.url, migrationsDir, log })),
  );
  expect(outcomes.filter((names) => names.length > 0)).toHaveLength(1);
});

test("a process that waits too long for another one's migration says so", async () => {
  await using database = await testDatabase({ migrated: false });
  await withConnection(database.url, async (holder) => {
    await holder.query("BEGIN; SELECT pg_advisory_xact_lock(72707369)");
    await expect(applyMigrations({ databaseUrl: database.url, migrationsDir, log, lockTimeoutMs: 50 })).rejects.toThrow(
      /Another process has been migrating the database/u,
    );
  });
});

test("a script is run whole: function bodies keep their semicolons, and a failure leaves nothing of it", async () => {
  await using database = await testDatabase({ migrated: false });
  const body = "CREATE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; RETURN n * 2; END $$;";
  const dir = await folder({ "20260101000000_one": `${body}\nSELECT 1 / 0;` });
  await expect(applyMigrations({ databaseUrl: database.url, migrationsDir: dir, log })).rejects.toThrow(
    /20260101000000_one[\s\S]*division by zero/u,
  );
  // The same name again, mended: an interrupted or failed migration is tried anew.
  await writeFile(path.join(dir, "20260101000000_one", "migration.sql"), body);
  expect(await applyMigrations({ databaseUrl: database.url, migrationsDir: dir, log })).toEqual(["20260101000000_one"]);
  const { rows } = await withConnection(database.url, (client) => client.query("SELECT twice(21) AS answer"));
  expect(rows).toEqual([{ answer: 42 }]);
});

test("a database that a newer llmgw has migrated is refused", async () => {
  await using database = await testDatabase({ migrated: false });
  const newer = await folder({ "20260101000000_one": "SELECT 1;", "20260102000000_two": "SELECT 2;" });
  await applyMigrations({ databaseUrl: database.url, migrationsDir: newer, log });
  const older = await folder({ "20260101000000_one": "SELECT 1;" });
  await expect(applyMigrations({ databaseUrl: database.url, migrationsDir: older, log })).rejects.toThrow(
    /does not know: 20260102000000_two/u,
  );
});

test("a migration edited after it was applied is refused", async () => {
  await using database = await testDatabase({ migrated: false });
  const before = await folder({ "20260101000000_one": "SELECT 1;" });
  await applyMigrations({ databaseUrl: database.url, migrationsDir: before, log });
  const after = await folder({ "20260101000000_one": "SELECT 2;" });
  await expect(applyMigrations({ databaseUrl: database.url, migrationsDir: after, log })).rejects.toThrow(
    /changed after they had been applied to the database: 20260101000000_one/u,
  );
});

test("a new migration leads from an empty folder to the schema, and is written once", async () => {
  const dir = await folder({});
  const databaseUrl = inject("postgres").url;
  const now = new Date("2026-03-04T05:06:07Z");
  const options = { databaseUrl, schemaFile, migrationsDir: dir, name: "first", now };
  expect(await createMigration(options)).toBe(path.join(dir, "20260304050607_first", "migration.sql"));
  expect(await createMigration({ ...options, name: "second" })).toBeUndefined();
});

test("nothing is left open: neither connections nor the database that a comparison needs", async () => {
  await using database = await testDatabase({ migrated: false });
  const good = { "20260101000000_one": "SELECT 1;" };
  await applyMigrations({ databaseUrl: database.url, migrationsDir: await folder(good), log });
  const broken = await folder({ ...good, "20260102000000_two": "SELECT 1 / 0;" });
  await expect(diffSchema({ databaseUrl: database.url, schemaFile, migrationsDir: broken })).rejects.toThrow();
  await expect(applyMigrations({ databaseUrl: database.url, migrationsDir: broken, log })).rejects.toThrow();
  const { rows } = await withConnection(database.url, (client) =>
    client.query(
      "SELECT datname FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() UNION SELECT datname FROM pg_database WHERE datname LIKE 'llmgw_shadow%'",
    ),
  );
  expect(rows).toEqual([]);
});

test("a missing database is made, also by two at once", async () => {
  const { url } = inject("postgres");
  const name = `llmgw_made_${process.pid}`;
  const databaseUrl = withDatabase(url, name);
  onTestFinished(async () => {
    await withConnection(url, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  });
  const options = { databaseUrl, timeoutMs: 10_000, log, signal: new AbortController().signal };
  await Promise.all([waitForDatabase(options), waitForDatabase(options)]);
  await withConnection(databaseUrl, (client) => client.query("SELECT 1"));
});

test("a database that does not answer, or refuses the login, is named without the password", async () => {
  const options = { timeoutMs: 1, log, signal: new AbortController().signal };
  const silent = waitForDatabase({ ...options, databaseUrl: "postgresql://u:hidden@127.0.0.1:1/x" });
  await expect(silent).rejects.toThrow(/127\.0\.0\.1:1\/x did not accept a connection/u);
  await expect(silent).rejects.not.toThrow(/hidden/u);
  const wrong = new URL(inject("postgres").url);
  wrong.username = "stranger";
  wrong.password = "hidden";
  await expect(waitForDatabase({ ...options, databaseUrl: wrong.href })).rejects.toThrow(/refuses the login/u);
});
