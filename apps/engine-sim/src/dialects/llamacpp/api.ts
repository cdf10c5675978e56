import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { embeddingVector } from "../../core/answer.ts";
import { tokenizePrompt } from "../../core/tokens.ts";
import { type LlamaExchange, sendLlama, sendLlamaError } from "./answers.ts";
import { generate } from "./generate.ts";
import type { LlamaState } from "./llama-state.ts";
import { llamaMetrics } from "./metrics.ts";

type Body = Readonly<Record<string, unknown>>;
type Handler = (exchange: LlamaExchange, state: LlamaState) => void;

const PUBLIC = ["/health", "/v1/health", "/models", "/v1/models", "/"];

const ROUTES: Readonly<Record<string, Handler>> = {
  "GET /health": ({ response }, state) => health(response, state),
  "GET /v1/health": ({ response }, state) => health(response, state),
  "GET /v1/models": ({ response }, state) => models(response, state),
  "GET /models": ({ response }, state) => models(response, state),
  "GET /metrics": metrics,
  "GET /slots": slots,
  "GET /props": ({ response }, { settings }) =>
    sendLlama(response, 200, { total_slots: settings.parallel, model_path: settings.model, build_info: "simulated" }),
  "POST /v1/chat/completions": (exchange, state) => withJson(exchange, (body) => chat(exchange, body, state)),
  "POST /chat/completions": (exchange, state) => withJson(exchange, (body) => chat(exchange, body, state)),
  "POST /v1/completions": (exchange, state) => withJson(exchange, (body) => text(exchange, body, state)),
  "POST /completions": (exchange, state) => withJson(exchange, (body) => text(exchange, body, state)),
  "POST /v1/embeddings": (exchange, state) => withJson(exchange, (body) => embeddings(exchange, body, state)),
  "POST /tokenize": (exchange) =>
    withJson(exchange, ({ content }) => {
      const { count } = tokenizePrompt(String(content ?? ""), { maxTokens: 1e6, blockSize: 16 });
      sendLlama(exchange.response, 200, { tokens: Array.from({ length: count }, (_, index) => index) });
    }),
};

/** llama-server's HTTP surface. While loading every path answers 503. An unknown path, or method of one, is 404. */
export function createLlamaServer(state: LlamaState): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => response.destroy());
    response.on("error", () => response.destroy());
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://engine");
      response.setHeader("server", "llama.cpp");
      if (!PUBLIC.includes(url.pathname) && !isAuthorized(request, state)) {
        sendLlamaError(response, { code: 401, message: "Invalid API Key", type: "authentication_error" });
        return;
      }
      if (state.loading) {
        sendLlamaError(response, { code: 503, message: "Loading model", type: "unavailable_error" });
        return;
      }
      const handler = ROUTES[`${request.method} ${url.pathname}`];
      if (handler === undefined) {
        sendLlamaError(response, { code: 404, message: "File Not Found", type: "not_found_error" });
        return;
      }
      handler({ request, response, url, body: Buffer.concat(chunks) }, state);
    });
  });
}

function isAuthorized({ headers }: IncomingMessage, { settings }: LlamaState): boolean {
  if (settings.apiKey === undefined || settings.apiKey === "") return true;
  return headers.authorization === `Bearer ${settings.apiKey}` || headers["x-api-key"] === settings.apiKey;
}

/** A body that is no JSON is the server's error, not the client's: 500. */
function withJson({ body, response }: LlamaExchange, use: (body: Body) => void): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString("utf8"));
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const message = `[json.exception.parse_error.101] parse error at line 1, column 1: syntax error while parsing value - ${said}`;
    sendLlamaError(response, { code: 500, message, type: "server_error" });
    return;
  }
  use(typeof parsed === "object" && parsed !== null ? { ...parsed } : {});
}

function health(response: ServerResponse, { faults }: LlamaState): void {
  const status = faults.find("health-status")?.status ?? 200;
  const delayMs = faults.find("slow-health")?.delayMs ?? 0;
  setTimeout(() => sendLlama(response, status, { status: status === 200 ? "ok" : "error" }), delayMs);
}

function models(response: ServerResponse, { settings, wallClockMs }: LlamaState): void {
  const [id = settings.alias, ...others] = settings.alias.split(",");
  const created = Math.floor(wallClockMs() / 1000);
  const meta = { n_ctx: settings.slotContext, n_ctx_train: settings.slotContext };
  sendLlama(response, 200, {
    object: "list",
    data: [{ id, aliases: [id, ...others], tags: [], object: "model", created, owned_by: "llamacpp", meta }],
  });
}

function metrics({ response }: LlamaExchange, state: LlamaState): void {
  state.wokenAtMs = performance.now();
  if (!state.settings.metrics || state.faults.find("metrics")?.shape === "absent") {
    const message = "This server does not support metrics endpoint. Start it with `--metrics`";
    sendLlamaError(response, { code: 501, message, type: "not_supported_error" });
    return;
  }
  const shape = state.faults.find("metrics")?.shape;
  response.writeHead(200, { "content-type": "text/plain; version=0.0.4" });
  const page = llamaMetrics(state);
  response.end(shape === "empty" ? "" : shape === "corrupt" ? page.slice(0, page.length / 2) : page);
}

function slots({ response, url }: LlamaExchange, state: LlamaState): void {
  state.wokenAtMs = performance.now();
  const { settings } = state;
  if (!settings.slots) {
    const message = "This server does not support slots endpoint. Start it with `--slots`";
    sendLlamaError(response, { code: 501, message, type: "not_supported_error" });
    return;
  }
  const busy = [...state.requests.values()].filter(({ processing }) => processing);
  if (url.searchParams.get("fail_on_no_slot") === "1" && busy.length >= settings.parallel) {
    sendLlamaError(response, { code: 503, message: "no slot available", type: "unavailable_error" });
    return;
  }
  const all = Array.from({ length: settings.parallel }, (_, id) => {
    const request = busy[id];
    const idle = { id, n_ctx: settings.slotContext, speculative: false, is_processing: request !== undefined };
    if (request === undefined) return idle;
    return {
      ...idle,
      id_task: Number.parseInt(request.id, 10),
      n_prompt_tokens: request.promptTokens + request.generated,
      n_prompt_tokens_processed: request.promptTokens,
      next_token: [
        { has_next_token: true, n_remain: request.maxTokens - request.generated, n_decoded: request.generated },
      ],
    };
  });
  sendLlama(response, 200, all);
}

function chat(exchange: LlamaExchange, body: Body, state: LlamaState): void {
  const { messages } = body;
  if (messages === undefined) {
    const message = "'messages' is required";
    sendLlamaError(exchange.response, { code: 400, message, type: "invalid_request_error" });
    return;
  }
  if (!Array.isArray(messages)) {
    const message = "Expected 'messages' to be an array";
    sendLlamaError(exchange.response, { code: 400, message, type: "invalid_request_error" });
    return;
  }
  const turns = messages.map((turn: unknown) => JSON.stringify(turn)).join("\n");
  generate(exchange, { body, prompt: turns, isChat: true }, state);
}

function text(exchange: LlamaExchange, body: Body, state: LlamaState): void {
  if (body["prompt"] === undefined) {
    const message = "'prompt' is required";
    sendLlamaError(exchange.response, { code: 400, message, type: "invalid_request_error" });
    return;
  }
  generate(exchange, { body, prompt: String(body["prompt"]), isChat: false }, state);
}

function embeddings({ response }: LlamaExchange, { input }: Body, { settings }: LlamaState): void {
  if (!settings.embeddings) {
    const message = "This server does not support embeddings. Start it with `--embeddings`";
    sendLlamaError(response, { code: 501, message, type: "not_supported_error" });
    return;
  }
  const texts = Array.isArray(input) ? input.map(String) : [String(input)];
  const data = texts.map((each, index) => {
    const { hash } = tokenizePrompt(each, { maxTokens: settings.slotContext, blockSize: 16 });
    return { embedding: embeddingVector(hash, 64), index, object: "embedding" };
  });
  sendLlama(response, 200, {
    model: settings.alias,
    object: "list",
    usage: { prompt_tokens: 0, total_tokens: 0 },
    data,
  });
}
