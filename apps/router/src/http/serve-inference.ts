import { bands } from "@llmgw/wire";
import type { InferenceKey } from "../registry/registry.ts";
import { modelNotFound } from "./admit.ts";
import { type Call, runAttempts } from "./attempts.ts";
import type { Exchange } from "./exchange.ts";
import type { Gateway } from "./gateway.ts";
import { readBody, refuseByHead } from "./read-body.ts";
import { routerError, shown } from "./router-error.ts";
import type { InferenceApi } from "./routes.ts";
import { scanRequest, withModel } from "./scan-request.ts";

/** Serves one inference request of a known key, from its head to the end of its answer. */
export async function serveInference(
  gateway: Gateway,
  exchange: Exchange,
  { api, key }: { api: InferenceApi; key: InferenceKey },
): Promise<void> {
  const { registry } = gateway;
  const { admission, timeouts } = registry.settings;
  const band = bandOf(exchange, key);
  if (band === null) {
    const given = shown(String(exchange.request.headers["x-llmgw-priority"]));
    exchange.sendError(routerError("invalid_priority", `x-llmgw-priority is ${given}: expected ${bands.join(", ")}.`));
    return;
  }
  exchange.band = bands[band] ?? null;
  const refusal = refuseByHead(exchange, admission.maxBodyBytes);
  if (refusal !== null) {
    exchange.sendError(refusal);
    return;
  }
  let heldBytes = 0;
  try {
    const body = await readBody(exchange, {
      maxBytes: admission.maxBodyBytes,
      uploadMs: timeouts.uploadMs,
      wheel: gateway.wheel,
      nowMs: () => gateway.clock.monotonicMs(),
      reserve: (bytes) => {
        if (!gateway.bodyMemory.tryHold(bytes, admission.bodyMemoryBytes)) return false;
        heldBytes += bytes;
        return true;
      },
    });
    if (body.kind === "refused") exchange.sendError(body.error);
    if (body.kind !== "ok") return;
    await serveBody({ gateway, exchange, key, rank: band }, api, body.bytes);
  } finally {
    gateway.bodyMemory.release(heldBytes);
  }
}

async function serveBody(call: Call, api: InferenceApi, bytes: Buffer): Promise<void> {
  const { gateway, exchange, key } = call;
  const reading = await scanRequest(bytes, { api, headers: exchange.request.headers });
  if (reading.kind === "refused") {
    exchange.sendError(reading.error);
    return;
  }
  const { model, stream } = reading;
  const route = gateway.registry.model(model);
  if (route === undefined) {
    exchange.sendError(modelNotFound(model));
    return;
  }
  exchange.modelId = route.id;
  if (key.models !== null && !key.models.has(route.id)) {
    const message = `This API key may not use model ${shown(model)}.`;
    exchange.sendError(routerError("model_not_allowed", message, { param: "model" }));
    return;
  }
  // Engines know a model by its id only: of an alias these bytes are replaced, and no others.
  const name = api.body === "json" ? JSON.stringify(route.id) : route.id;
  const body = model === route.id ? bytes : withModel(bytes, reading, name);
  await runAttempts(call, { route, body, stream });
}

/** Rank of the request's band: the lower of what it asks for and what its key may; null for an unknown band. */
function bandOf(exchange: Exchange, key: InferenceKey): number | null {
  const ownRank = bands.indexOf(key.maxBand);
  const asked = exchange.request.headers["x-llmgw-priority"];
  if (asked === undefined) return ownRank;
  const names: readonly string[] = bands;
  const askedRank = names.indexOf(String(asked));
  return askedRank === -1 ? null : Math.max(askedRank, ownRank);
}
