import type { Role } from "@llmgw/api";
import type { Database } from "./database.ts";
import { fromJson } from "./database.ts";

/** What a secret of the admin listener stands for. */
export type Identity =
  | { readonly kind: "token"; readonly id: string; readonly name: string; readonly role: Role }
  | { readonly kind: "session"; readonly id: string; readonly name: string; readonly role: Role }
  | { readonly kind: "join"; readonly id: string; readonly name: string }
  | { readonly kind: "router"; readonly id: string; readonly name: string }
  | { readonly kind: "node"; readonly id: string; readonly name: string };

/** Whom the hash of a bearer token belongs to; null for an unknown, expired or revoked one. */
export async function findToken(database: Database, sha256: string): Promise<Identity | null> {
  const now = new Date();
  const token = await database.accessToken.findUnique({ where: { sha256 } });
  if (token === null) return null;
  if (token.revokedAt !== null || (token.expiresAt !== null && token.expiresAt <= now)) return null;
  const { id, name } = token;
  if (token.kind === "join") return { kind: "join", id, name };
  if (token.kind === "router") return { kind: "router", id, name };
  return { kind: "token", id, name, role: fromJson<Role>(token.role) };
}

/**
 * Whom the hash of a node's credential belongs to. A removed node is still known: when it returns it has to be told to
 * stop what it runs.
 */
export async function findNodeCredential(database: Database, sha256: string): Promise<Identity | null> {
  const node = await database.node.findUnique({
    where: { credentialSha256: sha256 },
    select: { id: true, name: true },
  });
  return node === null ? null : { kind: "node", id: node.id, name: node.name };
}

/** Whom the hash of a session cookie belongs to. */
export async function findSession(database: Database, sha256: string): Promise<Identity | null> {
  const session = await database.session.findUnique({ where: { sha256 } });
  if (session === null || session.revokedAt !== null || session.expiresAt <= new Date()) return null;
  return { kind: "session", id: sha256.slice(0, 16), name: session.name, role: fromJson<Role>(session.role) };
}
