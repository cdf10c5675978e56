import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, type Logger, newId, newSecret, readJsonFile, sha256Hex, writeFileAtomic } from "@llmgw/service";
import { z } from "zod";
import type { AuditEntry } from "./audit.ts";
import type { Database } from "./database.ts";
import { type Write, write } from "./write.ts";

const credentialsFile = z.strictObject({
  /** For ctl and scripts on this machine: role admin. */
  operatorToken: z.string(),
  joinToken: z.string(),
  routerToken: z.string(),
  /** For inference. */
  apiKey: z.string(),
});
export type Credentials = z.infer<typeof credentialsFile>;

/** Characters of a secret that are kept readable, so that people can tell their credentials apart. */
const PREFIX_CHARACTERS = 14;

/**
 * The first credentials of a cluster, in `credentials.json` (0600) of the data folder: made when the file is absent.
 * The database keeps only their hashes; those it does not have (a fresh database) are stored.
 */
export async function ensureCredentials(database: Database, dataDir: string, log: Logger): Promise<Credentials> {
  const path = join(dataDir, "credentials.json");
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const file = await readJsonFile(path, credentialsFile);
  if (file.kind === "invalid") {
    throw new ConfigError([`${file.problem}. Repair it, or remove it to have new credentials made.`]);
  }
  const credentials: Credentials =
    file.kind === "ok"
      ? file.value
      : {
          operatorToken: newSecret("llmgw_op_"),
          joinToken: newSecret("llmgw_join_"),
          routerToken: newSecret("llmgw_rt_"),
          apiKey: newSecret("llmgw_sk_"),
        };
  // The file first: a secret that only the database knows, as a hash, is lost to everybody.
  if (file.kind === "absent") await writeFileAtomic(path, `${JSON.stringify(credentials, null, 2)}\n`);
  const stored = await storeMissing(database, credentials);
  if (stored.length > 0) log.info({ path, stored }, "stored the first credentials");
  return credentials;
}

async function storeMissing(database: Database, credentials: Credentials): Promise<string[]> {
  const stored: string[] = [];
  await write(database, async (transaction) => {
    const { operatorToken, joinToken, routerToken, apiKey } = credentials;
    const tokens = [
      { kind: "operator", secret: operatorToken, role: "admin" },
      { kind: "join", secret: joinToken, role: null },
      { kind: "router", secret: routerToken, role: null },
    ];
    for (const token of tokens) if (await storeToken(transaction, token)) stored.push(token.kind);
    if (await storeApiKey(transaction, apiKey)) stored.push("apiKey");
  });
  return stored;
}

async function storeToken(
  { tx, nowMs, audit }: Write,
  { kind, secret, role }: { readonly kind: string; readonly secret: string; readonly role: string | null },
): Promise<boolean> {
  const sha256 = sha256Hex(secret);
  if ((await tx.accessToken.count({ where: { sha256 } })) > 0) return false;
  const id = newId("token", nowMs);
  const prefix = secret.slice(0, PREFIX_CHARACTERS);
  await tx.accessToken.create({ data: { id, kind, name: `first ${kind} token`, prefix, sha256, role } });
  audit(startAudit("access.createToken", id, { kind, prefix, role }));
  return true;
}

async function storeApiKey({ tx, nowMs, audit, changed }: Write, secret: string): Promise<boolean> {
  const sha256 = sha256Hex(secret);
  if ((await tx.apiKey.count({ where: { sha256 } })) > 0) return false;
  const id = newId("key", nowMs);
  const prefix = secret.slice(0, PREFIX_CHARACTERS);
  await tx.apiKey.create({ data: { id, name: "first key", prefix, sha256 } });
  audit(startAudit("keys.create", id, { prefix }));
  changed();
  return true;
}

function startAudit(verb: string, target: string, after: unknown): AuditEntry {
  return {
    actorKind: "system",
    actor: "admin start",
    role: null,
    source: null,
    verb,
    target,
    after,
    reason: null,
    outcome: "ok",
    requestId: null,
    cause: null,
  };
}
