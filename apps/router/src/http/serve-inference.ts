import { withUsageAsked } from "@llmgw/domain";
import type { InferenceKey } from "../registry/registry.ts";
import { modelNotFound } from "./admit.ts";
import { affinityOf } from "./affinity.ts";
import { type Call, runAttempts } from "./attempts.ts";
import type { Exchange } from "./exchange.ts";
import type { Gateway } from "./gateway.ts";
import { limitError } from "./key-limits.ts";
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
  const { bands } = admission;
  const band = bandOf(exchange, key, bands);
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
  const metered = key.meter.begin(gateway.clock.monotonicMs());
  if (metered.kind === "refused") {
    exchange.sendError(limitError(metered));
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
    exchange.bodyAtMs = gateway.clock.monotonicMs();
    await serveBody({ gateway, exchange, key, rank: band }, api, body.bytes);
  } finally {
    gateway.bodyMemory.release(heldBytes);
    key.meter.end(exchange.totalTokens, gateway.clock.monotonicMs());
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
  const named = model === route.id ? bytes : withModel(bytes, reading, name);
  const asking = stream && api.tellsUsageWhenAsked && route.entry.usageInjection ? withUsageAsked(named) : null;
  const body = asking === null ? named : Buffer.from(asking.buffer, asking.byteOffset, asking.byteLength);
  const affinity = affinityOf(route, { headers: exchange.request.headers, bytes, ...reading });
  await runAttempts(call, { route, body, stream, hidesUsage: asking !== null, affinity });
}

/** Rank of the request's band: the lower of what it asks for and what its key may; null for an unknown band. */
function bandOf(exchange: Exchange, { maxRank }: InferenceKey, bands: readonly string[]): number | null {
  const asked = exchange.request.headers["x-llmgw-priority"];
  if (asked === undefined) return maxRank;
  const rank = bands.indexOf(String(asked));
  return rank === -1 ? null : Math.max(rank, maxRank);
}
