import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { InferenceKey, Registry } from "../registry/registry.ts";
import { type RouterError, routerError } from "./router-error.ts";

export type Authentication =
  | { readonly kind: "ok"; readonly key: InferenceKey }
  | { readonly kind: "refused"; readonly error: RouterError };

/** After this a router has most likely reached an admin. */
const TABLE_RETRY_SECONDS = 5;

/** Decides on the key of a request from its head alone. `nowMs`: milliseconds since the epoch. */
export function authenticate(request: IncomingMessage, registry: Registry, nowMs: number): Authentication {
  const given = givenKey(request.rawHeaders);
  if (given === undefined) {
    return refused('This API wants the header "Authorization: Bearer" (or "x-api-key") with an API key, once.');
  }
  if (registry.table === null) {
    const message =
      "This router has no endpoint table yet: it knows no API key and no model until it reaches the admin.";
    return { kind: "refused", error: routerError("no_endpoint", message, { retryAfterSeconds: TABLE_RETRY_SECONDS }) };
  }
  if (nowMs > registry.keysValidUntilMs) {
    const message = "This router has not heard from its admin for so long that it believes no key any more.";
    return {
      kind: "refused",
      error: routerError("keys_outdated", message, { retryAfterSeconds: OUTDATED_RETRY_SECONDS }),
    };
  }
  const key = registry.key(hash("sha256", given));
  if (key === undefined) return refused("This API key is not known here. Check that it was copied whole.");
  if (key.isRevoked) return refused("This API key has been revoked.");
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return refused("This API key has expired.");
  return { kind: "ok", key };
}

/**
 * The key of the one Authorization header; without that, of the one x-api-key header, where Anthropic's clients put it. Two of
 * a kind are refused: programs differ on which one counts.
 */
function givenKey(rawHeaders: readonly string[]): string | undefined {
  let authorization: string | undefined;
  let apiKey: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    const value = rawHeaders[index + 1] ?? "";
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) {
      if (authorization !== undefined) return undefined;
      authorization = value;
    } else if (name.length === API_KEY.length && name.toLowerCase() === API_KEY) {
      if (apiKey !== undefined) return undefined;
      apiKey = value;
    }
  }
  return authorization === undefined ? apiKey : /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}

const OUTDATED_RETRY_SECONDS = 60;
const AUTHORIZATION = "authorization";
const API_KEY = "x-api-key";

function refused(message: string): Authentication {
  const error = routerError("invalid_api_key", message, { headers: { "www-authenticate": "Bearer" } });
  return { kind: "refused", error };
}
