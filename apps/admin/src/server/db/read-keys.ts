import type { KeyEntry } from "@llmgw/wire";
import type { Database } from "./database.ts";
import { storedKey } from "./key-store.ts";

/** Every inference key as routers know it. Revoked ones stay listed, so that a router refuses them by name. */
export async function readKeys(database: Database): Promise<KeyEntry[]> {
  const rows = await database.apiKey.findMany({ orderBy: { id: "asc" } });
  return rows.map((row) => {
    const { id, models, maxBand, limits, mayExplain, expiresAt, revokedAt } = storedKey(row);
    return {
      id,
      sha256: row.sha256,
      models: [...models],
      maxBand,
      limits,
      mayExplain,
      expiresAt: expiresAt?.toISOString() ?? null,
      revoked: revokedAt !== null,
    };
  });
}
