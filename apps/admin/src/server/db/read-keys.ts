import { noKeyLimits } from "@llmgw/domain";
import type { KeyEntry } from "@llmgw/wire";
import { type Database, fromJson } from "./database.ts";

/** Every inference key as routers know it. Revoked ones stay listed, so that a router refuses them by name. */
export async function readKeys(database: Database): Promise<KeyEntry[]> {
  const rows = await database.apiKey.findMany({ orderBy: { id: "asc" } });
  return rows.map((row) => ({
    id: row.id,
    sha256: row.sha256,
    models: fromJson(row.models),
    maxBand: row.maxBand,
    limits: noKeyLimits,
    mayExplain: false,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revoked: row.revokedAt !== null,
  }));
}
