import { sleep } from "../../engine/load-script.ts";
import { type HttpExchange, sendJson } from "../../http/http-server.ts";
import { sendError, statusError } from "../openai/errors.ts";
import type { ServerState } from "../openai/server-state.ts";
import { distortMetrics } from "../vllm/metrics.ts";
import { sglangMetrics } from "./metrics.ts";

/** The version that this dialect copies. */
export const SGLANG_VERSION = "0.5.14";

/** How long a health check waits for the token it has asked for. */
const HEALTH_TIMEOUT_MS = 20_000;

/**
 * `GET /health` and `/health_generate`: 503 while starting and once told to stop; else one token is generated, and 503
 * if none comes.
 */
export async function health({ response }: HttpExchange, state: ServerState): Promise<void> {
  const { faults, engine } = state;
  const delayMs = faults.find("slow-health")?.delayMs ?? 0;
  await sleep(delayMs, AbortSignal.timeout(delayMs + 1));
  const status = (answered: number) => {
    response.writeHead(faults.find("health-status")?.status ?? answered, { "content-length": 0 });
    response.end();
  };
  if (state.starting || state.draining) {
    status(503);
    return;
  }
  const id = `health-${state.nextRequestNumber}`;
  state.nextRequestNumber += 1;
  const generated = new AbortController();
  engine.generate(
    { id, promptTokens: 1, outputTokens: 1, prefixHashes: [], endReason: "length" },
    { prefilled: () => undefined, token: () => undefined, finish: () => generated.abort() },
  );
  await sleep(HEALTH_TIMEOUT_MS, generated.signal);
  engine.abort(id);
  status(generated.signal.aborted ? 200 : 503);
}

/** `GET /v1/models` */
export function models({ response }: HttpExchange, { settings, startedSeconds }: ServerState): void {
  const [id] = settings.servedNames;
  const entry = { id, object: "model", created: startedSeconds, owned_by: "sglang", root: id, parent: null };
  sendJson(response, 200, { object: "list", data: [{ ...entry, max_model_len: settings.maxModelLen }] });
}

/** `GET /v1/loads`: one entry, as for one data-parallel rank. */
export function loads({ response }: HttpExchange, { settings, scheduler, kv }: ServerState): void {
  sendJson(response, 200, {
    loads: [
      {
        dp_rank: 0,
        num_running_reqs: scheduler.runningCount(),
        num_waiting_reqs: scheduler.waitingCount(),
        num_used_tokens: kv.usedBlocks() * settings.blockSize,
        max_total_num_tokens: kv.capacityTokens,
        max_running_requests: settings.maxNumSeqs,
        token_usage: kv.usageRatio(),
      },
    ],
  });
}

/** `GET /server_info`, `/get_server_info` */
export function serverInfo({ response }: HttpExchange, { settings }: ServerState): void {
  const { model, servedNames, maxModelLen, tensorParallelSize: tp_size } = settings;
  sendJson(response, 200, {
    ...{ model_path: model, served_model_name: servedNames[0], context_length: maxModelLen, tp_size },
    version: SGLANG_VERSION,
  });
}

/** `GET /model_info`, `/get_model_info` */
export function modelInfo({ response }: HttpExchange, { settings }: ServerState): void {
  sendJson(response, 200, { model_path: settings.model, tokenizer_path: settings.model, is_generation: true });
}

/** `GET /metrics`: 404 without `--enable-metrics`. */
export function metrics({ response }: HttpExchange, state: ServerState): void {
  const shape = state.faults.find("metrics")?.shape;
  if (!state.settings.logStats || shape === "absent") {
    sendError(response, statusError(404), state);
    return;
  }
  const page = sglangMetrics(state);
  response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  response.end(shape === undefined ? page : distortMetrics(page, shape));
}
