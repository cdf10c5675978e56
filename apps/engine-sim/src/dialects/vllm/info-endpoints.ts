import { scanTokens } from "../../core/tokens.ts";
import { sleep } from "../../engine/load-script.ts";
import { type HttpExchange, sendJson } from "../../http/http-server.ts";
import { admitBody } from "../openai/admission.ts";
import { sendError, statusError } from "../openai/errors.ts";
import { chatPrompt, tokenizeSchema } from "../openai/request-schema.ts";
import type { ServerState } from "../openai/server-state.ts";
import { distortMetrics, metricsPage } from "./metrics.ts";

/** The version that this dialect copies. */
export const VLLM_VERSION = "0.33.0";

/** `GET /health` and `/ping`: an empty 200, whatever the engine behind it does. */
export async function health({ response }: HttpExchange, state: ServerState): Promise<void> {
  const delayMs = state.faults.find("slow-health")?.delayMs;
  if (delayMs !== undefined) {
    await sleep(delayMs, AbortSignal.timeout(delayMs));
  }
  response.writeHead(state.faults.find("health-status")?.status ?? 200, { "content-length": 0 });
  response.end();
}

/** `GET /v1/models`: one entry per served name. */
export function models({ response }: HttpExchange, state: ServerState): void {
  const { servedNames, model, maxModelLen } = state.settings;
  const data = servedNames.map((id) => ({
    id,
    object: "model",
    created: state.startedSeconds,
    owned_by: "vllm",
    root: model,
    parent: null,
    max_model_len: maxModelLen,
    permission: [
      {
        id: `modelperm-${id}`,
        object: "model_permission",
        created: state.startedSeconds,
        allow_create_engine: false,
        allow_sampling: true,
        allow_logprobs: true,
        allow_search_indices: false,
        allow_view: true,
        allow_fine_tuning: false,
        organization: "*",
        group: null,
        is_blocking: false,
      },
    ],
  }));
  sendJson(response, 200, { object: "list", data });
}

export function version({ response }: HttpExchange): void {
  sendJson(response, 200, { version: VLLM_VERSION });
}

/** `GET /load`: 0 for ever without `--enable-server-load-tracking`, as on a real engine. */
export function load({ response }: HttpExchange, state: ServerState): void {
  sendJson(response, 200, { server_load: state.settings.serverLoadTracking ? state.load : 0 });
}

export function metrics({ response }: HttpExchange, state: ServerState): void {
  const shape = state.faults.find("metrics")?.shape;
  if (shape === "absent") {
    sendError(response, statusError(404), state);
    return;
  }
  const page = metricsPage(state);
  response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  response.end(shape === undefined ? page : distortMetrics(page, shape));
}

/** `POST /tokenize` of a prompt or of chat messages. */
export function tokenize(exchange: HttpExchange, state: ServerState): void {
  const request = admitBody(exchange, tokenizeSchema, state);
  if (request === undefined) {
    return;
  }
  const text = "prompt" in request ? request.prompt : chatPrompt(request.messages);
  const tokens: number[] = [];
  const strings: string[] = [];
  scanTokens(text, (token, start, end) => {
    tokens.push(token);
    strings.push(text.slice(start, end));
    return true;
  });
  sendJson(exchange.response, 200, {
    count: tokens.length,
    max_model_len: state.settings.maxModelLen,
    tokens,
    token_strs: request.return_token_strs === true ? strings : null,
  });
}
