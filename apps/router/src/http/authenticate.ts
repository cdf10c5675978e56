import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { InferenceKey, Registry } from "../registry/registry.ts";
import { type RouterError, routerError } from "./router-error.ts";

export type Authentication =
  | { readonly kind: "ok"; readonly key: InferenceKey }
  | { readonly kind: "refused"; readonly error: RouterError };

/** Decides on the key of a request from its head alone. `nowMs`: milliseconds since the epoch. */
export function authenticate(request: IncomingMessage, registry: Registry, nowMs: number): Authentication {
  const given = bearerToken(request.rawHeaders);
  if (given === undefined) {
    return refused('This API wants the header "Authorization: Bearer" with an API key, once.');
  }
  const key = registry.key(hash("sha256", given));
  if (key === undefined) return refused("This API key is not known here. Check that it was copied whole.");
  if (key.isRevoked) return refused("This API key has been revoked.");
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return refused("This API key has expired.");
  return { kind: "ok", key };
}

/** The token of the one Authorization header. Two of them are refused: programs differ on which one counts. */
function bearerToken(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    if (name.length !== "authorization".length || name.toLowerCase() !== "authorization") continue;
    if (found !== undefined) return undefined;
    found = rawHeaders[index + 1] ?? "";
  }
  return found === undefined ? undefined : /^bearer +(\S+) *$/i.exec(found)?.[1];
}

function refused(message: string): Authentication {
  const error = routerError("invalid_api_key", message, { headers: { "www-authenticate": "Bearer" } });
  return { kind: "refused", error };
}
