import { type EngineAdapter, type EngineWork, listedModels } from "@llmgw/engines";
import { request } from "undici";

/** How to reach a running engine from its own node. */
export interface EngineAddress {
  /** `http://host:port`. */
  readonly url: string;
  readonly apiKey: string;
  readonly timeoutMs: number;
}

export type ReadyAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "not_yet" }
  | { readonly kind: "serves_other"; readonly found: readonly string[] };

/** Asks an engine whether it can answer for a model: its health says so, and the model is listed. */
export async function askReady(
  address: EngineAddress,
  { adapter, modelId }: { readonly adapter: EngineAdapter; readonly modelId: string },
  signal: AbortSignal,
): Promise<ReadyAnswer> {
  const { healthPath, modelsPath } = adapter.readiness;
  if ((await get(address, healthPath, signal)).status !== 200) return { kind: "not_yet" };
  const answer = await get(address, modelsPath, signal);
  const found = answer.status === 200 ? listedModels(parseJson(answer.body)) : null;
  if (found === null) return { kind: "not_yet" };
  return found.includes(modelId) ? { kind: "ready" } : { kind: "serves_other", found };
}

/** What is wrong with a ready engine's health, in a few words; null when it answers 200. */
export async function askHealth(address: EngineAddress, path: string, signal: AbortSignal): Promise<string | null> {
  const { status, body } = await get(address, path, signal);
  if (status === 200) return null;
  return status === null ? `health check failed: ${body}` : `health check answered ${status}`;
}

/** The requests an engine holds; null when that cannot be read. */
export async function askWork(
  address: EngineAddress,
  adapter: EngineAdapter,
  signal: AbortSignal,
): Promise<EngineWork | null> {
  const { status, body } = await get(address, adapter.metricsPath, signal);
  return status === 200 ? adapter.work(body) : null;
}

interface Got {
  /** Null when no answer came; `body` then says why. */
  readonly status: number | null;
  readonly body: string;
}

async function get({ url, apiKey, timeoutMs }: EngineAddress, path: string, signal: AbortSignal): Promise<Got> {
  try {
    const response = await request(`${url}${path}`, {
      headers: { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    return { status: response.statusCode, body: await response.body.text() };
  } catch (error) {
    // No answer is an answer here: the engine is loading, busy or gone, and the caller decides what that means.
    if (signal.aborted) throw signal.reason;
    return { status: null, body: error instanceof Error ? error.message : String(error) };
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // not JSON: the caller sees "not a list of models"
  }
}
