import { randomUUID } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import {
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
  type SqlQuery,
  type SqlResultSet,
} from "@prisma/driver-adapter-utils";
import { escapeIdentifier, Pool, DatabaseError as PostgresError } from "pg";
import { connectionOptions, withDatabase } from "../address.ts";
import { withConnection } from "../with-connection.ts";

/** The engine's own session-level lock, which `lockMigrations` replaces by one that connection poolers respect. */
const engineLock = /^\s*SELECT pg_advisory_lock\(72707369\)\s*$/u;

/** Connections for one use of the schema engine; disposing it closes those that the engine left open. */
export interface MigrationAdapter extends AsyncDisposable {
  readonly factory: SqlMigrationAwareDriverAdapterFactory;
}

/**
 * Connections for the schema engine. It differs from Prisma's adapter for PostgreSQL in what migrations need: a script runs whole in one go, so in one implicit transaction (Prisma's cuts it at every `;`, also inside a
 * function's body, and commits each piece); all statements use one connection; the shadow database is really another
 * database when the server is given as an address, and its connections are closed before it is dropped.
 */
export function migrationAdapter(databaseUrl: string): MigrationAdapter {
  const open = new Set<SqlDriverAdapter>();
  const opened = async (url: string, afterwards: () => Promise<void>) => {
    const adapter = await connect(url, async () => {
      open.delete(adapter);
      await afterwards();
    });
    open.add(adapter);
    return adapter;
  };
  return {
    factory: {
      provider: "postgres",
      adapterName: "@prisma/adapter-pg",
      connect: () => opened(databaseUrl, () => Promise.resolve()),
      connectToShadowDb: async () => {
        const database = `llmgw_shadow_${randomUUID().replaceAll("-", "")}`;
        const name = escapeIdentifier(database);
        await withConnection(databaseUrl, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE template0`));
        return await opened(withDatabase(databaseUrl, database), async () => {
          await withConnection(databaseUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
        });
      },
    },
    [Symbol.asyncDispose]: async () => {
      for (const adapter of [...open]) {
        await adapter.dispose();
      }
    },
  };
}

async function connect(databaseUrl: string, afterwards: () => Promise<void>): Promise<SqlDriverAdapter> {
  const pool = new Pool({ ...connectionOptions(databaseUrl), max: 1 });
  const adapter = await new PrismaPg(pool, { disposeExternalPool: true }).connect();
  return {
    provider: adapter.provider,
    adapterName: "@prisma/adapter-pg",
    queryRaw: (query) => queryRaw(adapter, query),
    executeRaw: (query) => adapter.executeRaw(engineLock.test(query.sql) ? { ...query, sql: "SELECT 1" } : query),
    executeScript: (script) => executeScript(pool, script),
    startTransaction: (isolationLevel) => adapter.startTransaction(isolationLevel),
    getConnectionInfo: () => adapter.getConnectionInfo(),
    dispose: async () => {
      await adapter.dispose();
      await afterwards();
    },
  };
}

/** Where the engine's queries have columns of the catalogue's one-byte type "char", and how to read them as text. */
const charColumns = [
  {
    name: "constraint_type",
    written: "constr.contype AS constraint_type",
    asText: "constr.contype::text AS constraint_type",
  },
  { name: "confdeltype", written: "con.confdeltype,", asText: "con.confdeltype::text AS confdeltype," },
  { name: "confupdtype", written: "con.confupdtype,", asText: "con.confupdtype::text AS confupdtype," },
] as const;

/**
 * A query of the engine as Prisma's adapter can run it: the adapter refuses columns of type "char", and the engine
 * insists on single characters. So they are read as text and handed over as characters.
 */
async function queryRaw(adapter: SqlDriverAdapter, query: SqlQuery): Promise<SqlResultSet> {
  if (engineLock.test(query.sql)) {
    return await adapter.queryRaw({ ...query, sql: "SELECT 1" });
  }
  const present = charColumns.filter(({ written }) => query.sql.includes(written));
  const sql = present.reduce((text, { written, asText }) => text.replace(written, asText), query.sql);
  const result = await adapter.queryRaw({ ...query, sql });
  const names = new Set<string>(present.map(({ name }) => name));
  const columnTypes = result.columnTypes.map((type, index) =>
    names.has(result.columnNames[index] ?? "") ? ColumnTypeEnum.Character : type,
  );
  return { ...result, columnTypes };
}

async function executeScript(pool: Pool, script: string): Promise<void> {
  if (engineLock.test(script)) {
    return;
  }
  try {
    await pool.query(script);
  } catch (cause) {
    if (!(cause instanceof PostgresError)) {
      throw cause;
    }
    throw new DriverAdapterError({
      kind: "postgres",
      code: cause.code ?? "XX000",
      severity: cause.severity ?? "ERROR",
      message: cause.message,
      detail: cause.detail,
      column: cause.column,
      hint: cause.hint,
      originalCode: cause.code ?? "XX000",
      originalMessage: cause.message,
    });
  }
}
