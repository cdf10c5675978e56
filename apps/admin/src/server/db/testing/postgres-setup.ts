import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createLogger } from "@llmgw/service";
import { escapeIdentifier } from "pg";
import type { TestProject } from "vitest/node";
import { withDatabase } from "../address.ts";
import { applyMigrations } from "../migrations/index.ts";
import { waitForDatabase } from "../wait-for-database.ts";
import { withConnection } from "../with-connection.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A role that may make databases, and the migrated database to copy. */
    readonly postgres: { readonly url: string; readonly template: string };
  }
}

const migrationsDir = fileURLToPath(new URL("../../../../../../prisma/migrations", import.meta.url));

/**
 * Runs once before the integration tests: one server (the embedded one, or the one LLMGW_TEST_DATABASE_URL names, whose
 * role must be allowed to make databases) with one migrated database, which each test copies.
 * @returns what undoes it after the last test.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = createLogger({ name: "test-postgres", level: "warn", destination: process.stderr });
  // biome-ignore lint/style/noProcessEnv: vitest starts here; there is nothing above that could hand the setting over
  const given = process.env["LLMGW_TEST_DATABASE_URL"];
  const server: TestServer =
    given === undefined || given === ""
      ? await startTestServer(log)
      : { url: given, [Symbol.asyncDispose]: () => Promise.resolve() };
  const template = `llmgw_template_${randomBytes(6).toString("hex")}`;
  const databaseUrl = withDatabase(server.url, template);
  const drop = () =>
    withConnection(server.url, (client) =>
      client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(template)} WITH (FORCE)`),
    );
  try {
    await waitForDatabase({ databaseUrl, timeoutMs: 30_000, log, signal: new AbortController().signal });
    await applyMigrations({ databaseUrl, migrationsDir, log });
  } catch (error) {
    await drop();
    await server[Symbol.asyncDispose]();
    throw error;
  }
  project.provide("postgres", { url: server.url, template });
  return async () => {
    await drop();
    await server[Symbol.asyncDispose]();
  };
}
