import type { TokenizedPrompt } from "../../core/tokens.ts";
import type { HttpExchange } from "../../http/http-server.ts";
import { contextTooLong, sendError, statusError } from "./errors.ts";
import type { ServerState } from "./server-state.ts";

/**
 * Runs prompts that end with their prefill, as embeddings and scores do, and answers once all have. What is too long,
 * does not fit the queue or is aborted gets its error here.
 */
export function runPrefillOnly(
  exchange: HttpExchange,
  { prompts, respond }: { readonly prompts: readonly TokenizedPrompt[]; readonly respond: () => void },
  state: ServerState,
): void {
  const { response } = exchange;
  const { maxModelLen } = state.settings;
  const tooLong = prompts.find((prompt) => prompt.count > maxModelLen);
  if (tooLong !== undefined) {
    sendError(response, contextTooLong(maxModelLen, { inputTokens: tooLong.count, outputTokens: 0 }), state);
    return;
  }
  if (prompts.length === 0) {
    respond();
    return;
  }
  const number = state.nextRequestNumber;
  state.nextRequestNumber += 1;
  const ids = prompts.map((_, index) => `${number}-${index}`);
  let open = prompts.length;
  let aborted = false;
  const sink = {
    prefilled: () => undefined,
    token: () => undefined,
    finish: (reason: string) => {
      aborted ||= reason === "abort";
      open -= 1;
      if (open > 0) {
        return;
      }
      if (aborted) {
        sendError(response, statusError(503, "The server is shutting down."), state);
      } else {
        respond();
      }
    },
  };
  for (const [index, prompt] of prompts.entries()) {
    const outcome = state.engine.generate(
      {
        id: ids[index] ?? "",
        promptTokens: prompt.count,
        outputTokens: 0,
        prefixHashes: prompt.blockHashes,
        endReason: "stop",
      },
      sink,
    );
    if (outcome.kind === "queue_full") {
      ids.forEach((id) => void state.engine.abort(id));
      sendError(response, statusError(503, `The request queue is full (${outcome.limit}). Try again later.`), state);
      return;
    }
  }
  state.load += 1;
  response.once("close", () => {
    state.load -= 1;
    for (const id of ids) {
      state.engine.abort(id);
    }
  });
}
