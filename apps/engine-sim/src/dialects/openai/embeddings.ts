import { embeddingVector } from "../../core/answer.ts";
import { tokenizePrompt } from "../../core/tokens.ts";
import { type HttpExchange, sendJson } from "../../http/http-server.ts";
import { admitBody, admitGeneration, requestId } from "./admission.ts";
import { runPrefillOnly } from "./prefill-only.ts";
import { embeddingSchema, promptList, rerankSchema } from "./request-schema.ts";
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
  const prompts = promptList(request.input).map((text) => tokenized(text, state));
  const respond = () => {
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
  runPrefillOnly(exchange, { prompts, respond }, state);
}

/** `POST /rerank`, `/v1/rerank`, `/v2/rerank`: each document with the query is one sequence; best first. */
export function rerank(exchange: HttpExchange, state: ServerState): void {
  if (!admitGeneration(exchange, state)) {
    return;
  }
  const request = admitBody(exchange, rerankSchema, state);
  if (request === undefined) {
    return;
  }
  const { query, documents, top_n: top } = request;
  const prompts = documents.map((document) => tokenized(`${query}\n${document}`, state));
  const respond = () => {
    const scored = documents.map((text, index) => ({
      index,
      document: { text },
      relevance_score: (prompts[index]?.hash ?? 0) / 2 ** 32,
    }));
    const best = scored.toSorted((a, b) => b.relevance_score - a.relevance_score);
    sendJson(exchange.response, 200, {
      id: `rerank-${requestId(exchange)}`,
      model: state.settings.servedNames[0],
      usage: { total_tokens: prompts.reduce((sum, prompt) => sum + prompt.count, 0) },
      results: best.slice(0, top === 0 ? best.length : top),
    });
  };
  runPrefillOnly(exchange, { prompts, respond }, state);
}

function tokenized(text: string | readonly number[], { settings }: ServerState) {
  return tokenizePrompt(text, { maxTokens: settings.maxModelLen, blockSize: settings.blockSize });
}

/** Little-endian 32-bit floats, as OpenAI's clients decode them. */
function base64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => void bytes.writeFloatLE(value, index * 4));
  return bytes.toString("base64");
}
