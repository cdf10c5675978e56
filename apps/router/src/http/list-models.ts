import type { ModelRoute } from "../registry/model-route.ts";
import type { InferenceKey, Registry } from "../registry/registry.ts";
import { modelNotFound } from "./admit.ts";
import type { Exchange } from "./exchange.ts";

/** Answers `GET /v1/models` from the table: every model that the key may use, whether or not an endpoint serves it now. */
export function listModels(exchange: Exchange, registry: Registry, key: InferenceKey): void {
  const data = registry.models.filter(({ id }) => isAllowed(key, id)).map(modelObject);
  exchange.sendJson(200, { object: "list", data });
  exchange.end({ outcome: "ok", status: 200 });
}

/** Answers `GET /v1/models/{id}`; the id may hold slashes, written as they are or as %2F. */
export function retrieveModel(
  exchange: Exchange,
  registry: Registry,
  { key, encodedId }: { key: InferenceKey; encodedId: string },
): void {
  const name = decoded(encodedId);
  const route = name === undefined ? undefined : registry.model(name);
  if (route === undefined || !isAllowed(key, route.id)) {
    exchange.sendError(modelNotFound(name ?? encodedId));
    return;
  }
  exchange.sendJson(200, modelObject(route));
  exchange.end({ outcome: "ok", status: 200 });
}

function isAllowed({ models }: InferenceKey, id: string): boolean {
  return models === null || models.has(id);
}

function modelObject({ id, createdSeconds }: ModelRoute) {
  return { id, object: "model", created: createdSeconds, owned_by: "llmgw" };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // a broken escape names no model
  }
}
