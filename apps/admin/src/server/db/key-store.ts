import type { KeyLimits } from "@llmgw/domain";
import { noKeyLimits } from "@llmgw/domain";
import type { AuditEntry } from "./audit.ts";
import { type Database, fromJson, type Tx, toJson } from "./database.ts";
import { write } from "./write.ts";

/** An inference key as it is stored: without its secret. */
export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly models: readonly string[];
  readonly maxBand: string;
  readonly limits: KeyLimits;
  readonly mayExplain: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface NewKey extends Omit<StoredKey, "createdAt" | "revokedAt"> {
  readonly sha256: string;
}

export type KeyFields = Partial<Pick<StoredKey, "models" | "maxBand" | "limits" | "mayExplain" | "expiresAt">>;

/** `version`: the table that has the change. */
export type KeyChanged =
  | { readonly kind: "done"; readonly key: StoredKey; readonly version: number }
  | { readonly kind: "unknown"; readonly known: readonly string[] }
  | { readonly kind: "name_taken" }
  | { readonly kind: "revoked" };

type KeyRow = Awaited<ReturnType<Tx["apiKey"]["findFirstOrThrow"]>>;

/** Every key, the newest last. */
export async function readStoredKeys(database: Database): Promise<readonly StoredKey[]> {
  const rows = await database.apiKey.findMany({ orderBy: [{ createdAt: "asc" }, { id: "asc" }] });
  return rows.map(storedKey);
}

export function storedKey(row: KeyRow): StoredKey {
  const { id, name, prefix, maxBand, mayExplain, createdAt, expiresAt, revokedAt } = row;
  const limits = { ...noKeyLimits, ...fromJson<Partial<KeyLimits>>(row.limits) };
  const models = fromJson<string[]>(row.models);
  return { id, name, prefix, models, maxBand, limits, mayExplain, createdAt, expiresAt, revokedAt };
}

/** Adds a key; a name that one in use has is refused, so that people can name keys. */
export async function createKey(
  database: Database,
  key: NewKey,
  audit: (after: object) => AuditEntry,
): Promise<KeyChanged> {
  return await changed(database, async ({ tx, record }) => {
    const holder = await tx.apiKey.findFirst({ where: { name: key.name, revokedAt: null } });
    if (holder !== null) return { kind: "name_taken" };
    const { limits, models, ...rest } = key;
    const row = await tx.apiKey.create({ data: { ...rest, models: toJson([...models]), limits: toJson(limits) } });
    record(audit(auditFields(storedKey(row))));
    return row;
  });
}

/** Changes a key that has not been revoked. `key`: its id or its name. */
export async function updateKey(
  database: Database,
  { key, fields }: { readonly key: string; readonly fields: KeyFields },
  audit: (target: string, before: object, after: object) => AuditEntry,
): Promise<KeyChanged> {
  return await changed(database, async ({ tx, record }) => {
    const found = await findKey(tx, key);
    if (!("id" in found)) return found;
    if (found.revokedAt !== null) return { kind: "revoked" };
    const { limits, models, ...rest } = fields;
    const row = await tx.apiKey.update({
      where: { id: found.id },
      data: {
        ...rest,
        ...(models === undefined ? {} : { models: toJson([...models]) }),
        ...(limits === undefined ? {} : { limits: toJson(limits) }),
      },
    });
    record(audit(found.id, auditFields(storedKey(found)), auditFields(storedKey(row))));
    return row;
  });
}

/** Revokes a key for ever; one that is revoked stays so and is no error. */
export async function revokeKey(
  database: Database,
  key: string,
  audit: (target: string) => AuditEntry,
): Promise<KeyChanged> {
  return await changed(database, async ({ tx, record, nowMs }) => {
    const found = await findKey(tx, key);
    if (!("id" in found)) return found;
    if (found.revokedAt !== null) return found;
    const row = await tx.apiKey.update({ where: { id: found.id }, data: { revokedAt: new Date(nowMs) } });
    record(audit(found.id));
    return row;
  });
}

interface KeyWrite {
  readonly tx: Tx;
  readonly nowMs: number;
  readonly record: (entry: AuditEntry) => void;
}

async function changed(
  database: Database,
  body: (write: KeyWrite) => Promise<KeyRow | Exclude<KeyChanged, { kind: "done" }>>,
): Promise<KeyChanged> {
  const written = await write(
    database,
    async ({ tx, nowMs, nextVersion, changed: bump, audit }): Promise<KeyChanged> => {
      let isNews = false;
      const record = (entry: AuditEntry) => {
        isNews = true;
        audit(entry);
      };
      const result = await body({ tx, nowMs, record });
      if (!("id" in result)) return result;
      if (isNews) bump();
      return { kind: "done", key: storedKey(result), version: isNews ? nextVersion : nextVersion - 1 };
    },
  );
  if (written.kind === "fenced") throw new Error("an unfenced write was fenced");
  return written.value;
}

async function findKey(tx: Tx, key: string): Promise<KeyRow | { kind: "unknown"; known: readonly string[] }> {
  const byId = await tx.apiKey.findUnique({ where: { id: key } });
  // Of several keys that had a name one after the other the one in use is meant, else the latest.
  const found =
    byId ??
    (await tx.apiKey.findFirst({ where: { name: key }, orderBy: [{ revokedAt: { sort: "desc", nulls: "first" } }] }));
  if (found !== null) return found;
  const rows = await tx.apiKey.findMany({ where: { revokedAt: null }, select: { name: true }, take: 100 });
  return { kind: "unknown", known: rows.map(({ name }) => name) };
}

function auditFields({ name, models, maxBand, limits, mayExplain, expiresAt }: StoredKey): object {
  return { name, models, maxBand, limits, mayExplain, expiresAt: expiresAt?.toISOString() ?? null };
}
