import { Client } from "pg";
import { connectionOptions } from "./address.ts";

/** Opens one connection, gives it to `use` and closes it, whatever happens. */
export async function withConnection<T>(databaseUrl: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(connectionOptions(databaseUrl));
  client.on("error", () => {
    // A connection that breaks also fails the query under way; without a listener it would end the process too.
  });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** The SQLSTATE of a PostgreSQL error, or the system's code of a connection error (`ECONNREFUSED`). */
export function databaseErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
