import { connect } from "node:net";
import { listedModels } from "@llmgw/engines";
import type { EngineClient } from "./engine-client.ts";
import type { UpstreamEndpoint } from "./upstream-endpoint.ts";

/** `listed`: the engine serves the model. `unlisted`: it answers, and names it not. `unreachable`: it does not answer well. */
export type ProbeResult =
  | { readonly kind: "listed" }
  | { readonly kind: "unlisted"; readonly problem: string }
  | { readonly kind: "unreachable"; readonly problem: string };

export interface ProbeOptions {
  readonly endpoint: UpstreamEndpoint;
  readonly modelId: string;
  readonly client: EngineClient;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Asks an engine whether it can answer for a model; one of which nothing is known (`none`) only for a connection. */
export async function probeEndpoint(options: ProbeOptions): Promise<ProbeResult> {
  const { endpoint, modelId, client, timeoutMs, signal } = options;
  const { entry } = endpoint;
  if (entry.engine === "none") return await probeTcp(entry.url, timeoutMs, signal);
  const url = `${endpoint.origin}${endpoint.basePath}/v1/models`;
  const answer = await client.get({ url, apiKey: entry.apiKey, timeoutMs, signal });
  if (answer.kind === "failed") return { kind: "unreachable", problem: answer.problem };
  if (answer.status >= 500) return { kind: "unreachable", problem: `GET /v1/models answered ${answer.status}` };
  if (answer.status !== 200) return { kind: "unlisted", problem: `GET /v1/models answered ${answer.status}` };
  const models = listedModels(parsed(answer.text));
  if (models === null) return { kind: "unlisted", problem: "GET /v1/models answered something else than a list" };
  if (models.includes(modelId)) return { kind: "listed" };
  return { kind: "unlisted", problem: `the engine lists ${models.length} models, and not ${modelId}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // no JSON: no list of models
  }
}

function probeTcp(url: string, timeoutMs: number, signal: AbortSignal): Promise<ProbeResult> {
  const { hostname, port, protocol } = new URL(url);
  const defaultPort = protocol === "https:" ? 443 : 80;
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? defaultPort : Number(port),
      timeout: timeoutMs,
    });
    const onAbort = () => settle(() => reject(signal.reason));
    const settle = (finish: () => void) => {
      signal.removeEventListener("abort", onAbort);
      socket.destroy();
      finish();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once("connect", () => settle(() => resolve({ kind: "listed" })));
    socket.once("timeout", () =>
      settle(() => resolve({ kind: "unreachable", problem: `no connection within ${timeoutMs} ms` })),
    );
    socket.once("error", (error) => settle(() => resolve({ kind: "unreachable", problem: error.message })));
  });
}
