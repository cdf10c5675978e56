import path from "node:path";
import { fileURLToPath } from "node:url";
import { createLogger, defineSettings, duration, parseSettings, runMain } from "@llmgw/service";
import { z } from "zod";
import { applyMigrations, createMigration } from "./server/db/migrations/index.ts";
import { waitForDatabase } from "./server/db/wait-for-database.ts";

const prismaDir = fileURLToPath(new URL("../../../prisma", import.meta.url));
const schemaFile = path.join(prismaDir, "schema.prisma");
const migrationsDir = path.join(prismaDir, "migrations");

const definition = defineSettings(
  {
    databaseUrl: {
      env: "DATABASE_URL",
      schema: z.string({ error: "expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE" }),
      secret: true,
      help: "the database to migrate; it is made if its server has none of that name",
    },
    create: {
      flag: "create",
      schema: z.string().optional(),
      valueName: "NAME",
      help: "write a new migration that leads to prisma/schema.prisma, and apply nothing",
    },
    waitMs: {
      flag: "wait",
      schema: duration,
      default: "30s",
      valueName: "DURATION",
      help: "how long to wait for the database to accept connections",
    },
  },
  { program: "llmgw migrate", summary: "Brings the database up to the migrations in prisma/migrations." },
);

await runMain(async () => {
  const { databaseUrl, create, waitMs } = parseSettings(definition, { argv: process.argv.slice(2), env: process.env });
  const log = createLogger({ name: "migrate", level: "info", destination: process.stderr });
  const signal = new AbortController().signal;
  await waitForDatabase({ databaseUrl, timeoutMs: waitMs, log, signal });
  if (create === undefined) {
    const applied = await applyMigrations({ databaseUrl, migrationsDir, log });
    console.log(applied.length === 0 ? "The database is up to date." : `Applied ${applied.join(", ")}.`);
    return;
  }
  const file = await createMigration({ databaseUrl, schemaFile, migrationsDir, name: create, now: new Date() });
  console.log(file === undefined ? "The migrations already lead to the schema." : `Wrote ${path.relative(".", file)}`);
});
