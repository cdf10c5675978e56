import { embeddingVector } from "../../core/answer.ts";
import { tokenizePrompt } from "../../core/tokens.ts";
import { type HttpExchange, sendJson } from "../../http/http-server.ts";
import { admitBody, admitGeneration, requestId } from "./admission.ts";
import { contextTooLong, sendError, statusError } from "./errors.ts";
import { embeddingSchema, promptList } from "./request-schema.ts";
import type { ServerState } from "./server-state.ts";

const DEFAULT_DIMENSIONS = 384;

/** `POST /v1/embeddings`: each input is one sequence that ends with its prefill; the same text gives the same vector. */
export function embeddings(exchange: HttpExchange, state: ServerState): void {
  if (!admitGeneration(exchange, state)) {
    return;
  }
  const request = admitBody(exchange, embeddingSchema, state);
  if (request === undefined) {
    return;
  }
  const { maxModelLen, blockSize } = state.settings;
  const prompts = promptList(request.input).map((text) => tokenizePrompt(text, { maxTokens: maxModelLen, blockSize }));
  const tooLong = prompts.find((prompt) => prompt.count > maxModelLen);
  if (tooLong !== undefined) {
    sendError(exchange.response, contextTooLong(maxModelLen, { inputTokens: tooLong.count, outputTokens: 0 }));
    return;
  }

  const number = state.nextRequestNumber;
  state.nextRequestNumber += 1;
  const ids = prompts.map((_, index) => `${number}-${index}`);
  let open = prompts.length;
  let aborted = false;

  const respond = () => {
    if (aborted) {
      sendError(exchange.response, statusError(503, "The server is shutting down."));
      return;
    }
    const tokens = prompts.reduce((sum, prompt) => sum + prompt.count, 0);
    sendJson(exchange.response, 200, {
      id: `embd-${requestId(exchange)}`,
      object: "list",
      created: Math.floor(state.wallClockMs() / 1000),
      model: state.settings.servedNames[0],
      data: prompts.map((prompt, index) => {
        const vector = embeddingVector(prompt.hash, request.dimensions ?? DEFAULT_DIMENSIONS);
        const embedding = request.encoding_format === "base64" ? base64(vector) : vector;
        return { index, object: "embedding", embedding };
      }),
      usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0, prompt_tokens_details: null },
    });
  };

  if (open === 0) {
    respond();
    return;
  }
  for (const [index, prompt] of prompts.entries()) {
    const outcome = state.engine.generate(
      {
        id: ids[index] ?? "",
        promptTokens: prompt.count,
        outputTokens: 0,
        prefixHashes: prompt.blockHashes,
        endReason: "stop",
      },
      {
        prefilled: () => undefined,
        token: () => undefined,
        finish: (reason) => {
          aborted ||= reason === "abort";
          open -= 1;
          if (open === 0) {
            respond();
          }
        },
      },
    );
    if (outcome.kind === "queue_full") {
      ids.forEach((id) => void state.engine.abort(id));
      sendError(exchange.response, statusError(503, `The request queue is full (${outcome.limit}). Try again later.`));
      return;
    }
  }
  state.load += 1;
  exchange.response.once("close", () => {
    state.load -= 1;
    for (const id of ids) {
      state.engine.abort(id);
    }
  });
}

/** Little-endian 32-bit floats, as OpenAI's clients decode them. */
function base64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => void bytes.writeFloatLE(value, index * 4));
  return bytes.toString("base64");
}
