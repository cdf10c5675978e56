import { connect } from "node:net";
import { type EngineAdapter, type EngineWork, listedModels, type Readiness } from "@llmgw/engines";
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
  /** It says itself that it has failed: some versions stay up to say so. */
  | { readonly kind: "failed"; readonly said: string }
  | { readonly kind: "serves_other"; readonly found: readonly string[] };

/** What an engine that speaks HTTP shows its state by. */
type HttpReadiness = Extract<Readiness, { kind: "http" }>;

/** How much of an engine's words on its own failure is passed on. */
const saidChars = 300;

/** Asks an engine whether it can answer for a model: its health says so, and the model is listed. */
export async function askReady(
  address: EngineAddress,
  { readiness, modelId }: { readonly readiness: HttpReadiness; readonly modelId: string },
  signal: AbortSignal,
): Promise<ReadyAnswer> {
  const { healthPath, modelsPath } = readiness;
  const health = await get(address, healthPath, signal);
  if (health.status === 500) return { kind: "failed", said: health.body.slice(0, saidChars) };
  if (health.status !== 200 && !isBusy(health)) return { kind: "not_yet" };
  const answer = await get(address, modelsPath, signal);
  const found = answer.status === 200 ? listedModels(parseJson(answer.body)) : null;
  if (found === null) return { kind: "not_yet" };
  return found.includes(modelId) ? { kind: "ready" } : { kind: "serves_other", found };
}

/** What is wrong with a ready engine's health, in a few words; null when it answers 200. */
export async function askHealth(address: EngineAddress, path: string, signal: AbortSignal): Promise<string | null> {
  const got = await get(address, path, signal);
  const { status, body } = got;
  if (status === 200 || isBusy(got)) return null;
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

/** True when something listens there. Nothing is sent. */
export async function takesConnections(
  { host, port }: { readonly host: string; readonly port: number },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    return await new Promise<boolean>((resolve) => {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      deadline.addEventListener("abort", () => resolve(false), { once: true });
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
  } finally {
    socket.destroy();
  }
}

/** llama-server of some versions calls itself unhealthy when every slot is taken: that is busy, not ill. */
function isBusy({ status, body }: Got): boolean {
  return status === 503 && body.includes("no slot available");
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
