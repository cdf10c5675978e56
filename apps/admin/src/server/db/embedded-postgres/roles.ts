import { escapeIdentifier, escapeLiteral } from "pg";
import { withConnection } from "../with-connection.ts";

/** Role of llmgw itself: owns the database, may add databases (tests, shadow databases), is not a superuser. */
export const appRole = "llmgw";
export const appDatabase = "llmgw";

/** Makes the role and the database of llmgw where they are missing. `url` is the superuser's. */
export async function makeRoleAndDatabase(url: string, password: string): Promise<void> {
  await withConnection(url, async (client) => {
    const roles = await client.query("SELECT 1 FROM pg_roles WHERE rolname = $1", [appRole]);
    if (roles.rowCount === 0) {
      await client.query(`CREATE ROLE ${escapeIdentifier(appRole)} LOGIN CREATEDB PASSWORD ${escapeLiteral(password)}`);
    }
    const databases = await client.query("SELECT 1 FROM pg_database WHERE datname = $1", [appDatabase]);
    if (databases.rowCount === 0) {
      await client.query(`CREATE DATABASE ${escapeIdentifier(appDatabase)} OWNER ${escapeIdentifier(appRole)}`);
    }
  });
}
