import { answerText, naturalLength } from "../../core/answer.ts";
import { tokenizePrompt } from "../../core/tokens.ts";
import { type HttpExchange, sendJson } from "../../http/http-server.ts";
import { admitGeneration } from "./admission.ts";
import { badRequest, modelNotFound, sendError } from "./errors.ts";
import { parseMultipart } from "./multipart.ts";
import { runPrefillOnly } from "./prefill-only.ts";
import type { ServerState } from "./server-state.ts";

/** 16 kHz, 16 bit, mono: what the length of a file is reckoned by. */
const BYTES_PER_SECOND = 32_000;

/** `POST /v1/audio/transcriptions` and `/v1/audio/translations`: a form with a file. The same file gives the same text. */
export function transcribe(exchange: HttpExchange, state: ServerState): void {
  if (!admitGeneration(exchange, state)) {
    return;
  }
  const { request, response, body } = exchange;
  const parts = parseMultipart(request.headers["content-type"], body);
  const file = parts?.find(({ name, fileName }) => name === "file" && fileName !== null);
  if (parts === null || file === undefined) {
    sendError(response, badRequest("Expected a multipart form with a file in its field 'file'.", "file"), state);
    return;
  }
  const field = (name: string) => parts.find((part) => part.name === name)?.content.toString("utf8");
  const model = field("model");
  if (model !== undefined && model !== "" && !state.settings.servedNames.includes(model)) {
    sendError(response, modelNotFound(model), state);
    return;
  }
  const { maxModelLen, blockSize } = state.settings;
  const prompt = tokenizePrompt(file.content.toString("latin1"), { maxTokens: maxModelLen, blockSize });
  const seconds = Math.ceil(file.content.length / BYTES_PER_SECOND);
  const respond = () => {
    const text = answerText(prompt.hash, 0, naturalLength(prompt.hash));
    if (field("response_format") === "text") {
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
      response.end(text);
      return;
    }
    sendJson(response, 200, { text, usage: { type: "duration", seconds } });
  };
  // A sound's length in time, not its bytes, is what a model reads.
  const sequence = { ...prompt, count: Math.min(maxModelLen, 50 * seconds), blockHashes: [] };
  runPrefillOnly(exchange, { prompts: [sequence], respond }, state);
}
