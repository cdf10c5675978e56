import { randomBytes } from "node:crypto";
import { createLogger } from "@llmgw/service";
import { escapeIdentifier } from "pg";
import { inject } from "vitest";
import { withDatabase } from "../address.ts";
import { createPrisma } from "../client.ts";
import type { Database } from "../database.ts";
import { withConnection } from "../with-connection.ts";

/** A database of one test's own. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  /** A client on it with five connections, opened when used. */
  readonly prisma: Database;
}

/**
 * Copies the migrated template: `await using database = await testDatabase()`. The copy and its sessions end with the
 * scope. For integration tests only.
 * @param options.migrated false for an empty database.
 */
export async function testDatabase(options: { readonly migrated?: boolean } = {}): Promise<TestDatabase> {
  const { url: serverUrl, template } = inject("postgres");
  const name = `llmgw_test_${randomBytes(6).toString("hex")}`;
  const source = options.migrated === false ? "template0" : template;
  await withConnection(serverUrl, (client) =>
    client.query(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(source)}`),
  );
  const url = withDatabase(serverUrl, name);
  const log = createLogger({ name: "test", level: "silent" });
  const prisma = createPrisma({ databaseUrl: url, poolSize: 5, log });
  return {
    url,
    prisma,
    [Symbol.asyncDispose]: async () => {
      await prisma.$disconnect();
      await withConnection(serverUrl, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`),
      );
    },
  };
}
