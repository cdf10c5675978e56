import type { ClientConfig } from "pg";
import { DatabaseError } from "./database-error.ts";

/** A database address taken apart. */
export interface DatabaseAddress {
  /** For `pg`. Kept as the whole address, so that options such as `sslmode` stay in force. */
  readonly connectionString: string;
  readonly database: string;
  /** For people: without user, password and options. */
  readonly shown: string;
}

/** @throws DatabaseError when `databaseUrl` is no address of a PostgreSQL database. */
export function parseDatabaseUrl(databaseUrl: string): DatabaseAddress {
  const url = URL.canParse(databaseUrl) ? new URL(databaseUrl) : undefined;
  const database = url === undefined ? "" : decodeURIComponent(url.pathname.slice(1));
  if (url === undefined || !/^postgres(?:ql)?:$/u.test(url.protocol) || database === "") {
    throw new DatabaseError(
      "DATABASE_URL is not an address of a PostgreSQL database; expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE (its value is not shown here because it may hold a password).",
    );
  }
  return { connectionString: databaseUrl, database, shown: `${url.host}/${database}` };
}

/** The same server and login, another database. */
export function withDatabase(databaseUrl: string, database: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${encodeURIComponent(database)}`;
  return url.href;
}

/** Options every short-lived connection of the plumbing uses. */
export function connectionOptions(databaseUrl: string): ClientConfig {
  return { connectionString: databaseUrl, connectionTimeoutMillis: 10_000, application_name: "llmgw" };
}
