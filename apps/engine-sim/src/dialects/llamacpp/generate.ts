import { randomBytes } from "node:crypto";
import { answerToken, naturalLength } from "../../core/answer.ts";
import { tokenizePrompt } from "../../core/tokens.ts";
import { createEventSender } from "../openai/event-sender.ts";
import { type LlamaExchange, sendLlama, sendLlamaError } from "./answers.ts";
import type { LlamaRequest, LlamaState } from "./llama-state.ts";

export interface LlamaPrompt {
  readonly body: Readonly<Record<string, unknown>>;
  readonly prompt: string;
  readonly isChat: boolean;
}

/** How long nothing may have been delivered before a client that left is noticed. */
const SILENCE_MS = 1_000;

/**
 * One request as llama-server serves it: it gets no byte before it has a slot; any model's name will do, and the answer
 * names the engine's own; a full shared cache ends everybody with an error inside a 200 stream, without [DONE].
 */
export function generate(exchange: LlamaExchange, { body, prompt, isChat }: LlamaPrompt, state: LlamaState): void {
  const { response, request: message } = exchange;
  const { settings, engine, faults } = state;
  state.generationRequests += 1;
  const fault = faults.find("status");
  if (fault !== undefined && state.generationRequests % fault.every === 0) {
    sendLlamaError(response, { code: fault.status, message: "injected error", type: "server_error" });
    return;
  }
  const tokenized = tokenizePrompt(prompt, { maxTokens: settings.slotContext + 1, blockSize: 16 });
  if (tokenized.count >= settings.slotContext) {
    const words = `request (${tokenized.count} tokens) exceeds the available context size (${settings.slotContext} tokens), try increasing it`;
    const extra = { n_prompt_tokens: tokenized.count, n_ctx: settings.slotContext };
    sendLlamaError(response, { code: 400, message: words, type: "exceed_context_size_error", extra });
    return;
  }
  const asked = [body["max_tokens"], body["max_completion_tokens"], body["n_predict"]].find(
    (value) => typeof value === "number",
  );
  const room = settings.slotContext - tokenized.count;
  const limit = typeof asked === "number" && asked >= 0 ? Math.max(1, asked) : null;
  const natural = body["ignore_eos"] === true ? room : naturalLength(tokenized.hash);
  const outputTokens = Math.min(room, limit ?? natural);
  const endReason = limit !== null || outputTokens === room ? "length" : "stop";

  const id = `${state.nextRequestNumber}`;
  state.nextRequestNumber += 1;
  const words = wordsOf(settings.alias, isChat, Math.floor(state.wallClockMs() / 1000));
  const stream = body["stream"] === true;
  const includeUsage = (body["stream_options"] as { include_usage?: unknown } | undefined)?.include_usage === true;
  const sender = createEventSender(response, () => {
    return faults.find("half-events")?.kind ?? faults.find("utf8-splits")?.kind ?? "whole";
  });
  const texts: string[] = [];
  let ping: NodeJS.Timeout | undefined;

  const request: LlamaRequest = {
    id,
    promptTokens: tokenized.count,
    maxTokens: outputTokens,
    generated: 0,
    processing: false,
    fail(said) {
      leave();
      engine.abort(id);
      const error = { code: 500, message: said, type: "server_error" };
      if (stream && response.headersSent) sender.end(`data: ${JSON.stringify({ error })}\n\n`);
      else sendLlamaError(response, error);
    },
  };
  const leave = () => {
    clearInterval(ping);
    state.requests.delete(id);
    state.predictedTokens += request.generated;
  };
  const begin = () => {
    if (request.processing) return;
    request.processing = true;
    if (!stream) return;
    if (faults.find("close-delimited") !== undefined) {
      response.useChunkedEncodingByDefault = false;
      response.shouldKeepAlive = false;
    }
    response.writeHead(200, { "content-type": "text/event-stream", "x-accel-buffering": "no" });
    response.flushHeaders();
    if (settings.pingMs > 0) ping = setInterval(() => onPing(), settings.pingMs);
  };
  const onPing = () => {
    sender.send(":\n\n");
    // After SIGTERM the next ping is the last word: the connection ends in the middle of its chunks.
    if (state.frozen) response.socket?.end();
  };

  state.requests.set(id, request);
  const outcome = engine.generate(
    { id, promptTokens: tokenized.count, outputTokens, prefixHashes: tokenized.blockHashes, endReason },
    {
      prefilled: () => undefined,
      token(index) {
        begin();
        request.generated = index + 1;
        state.decodes += 1;
        state.wokenAtMs = performance.now();
        const token = ` ${answerToken(tokenized.hash, 0, index).trim()}`;
        texts.push(token);
        if (stream) sender.send((index === 0 ? words.opening : "") + words.token(token));
        if (request.generated >= (faults.find("crash-mid-stream")?.tokens ?? Number.POSITIVE_INFINITY)) {
          setImmediate(state.crash);
        }
        if (request.generated >= (faults.find("reset-mid-stream")?.tokens ?? Number.POSITIVE_INFINITY)) {
          setImmediate(() => void message.socket.resetAndDestroy());
        }
        if (isPoolFull(state)) {
          for (const each of [...state.requests.values()].filter(({ processing }) => processing)) {
            each.fail("Context size has been exceeded.");
          }
        }
      },
      finish(reason) {
        leave();
        const usage = {
          completion_tokens: request.generated,
          prompt_tokens: tokenized.count,
          total_tokens: request.generated + tokenized.count,
        };
        if (!stream) {
          sendLlama(response, 200, words.whole(texts.join(""), reason, usage));
          return;
        }
        sender.end(words.ending(reason, includeUsage ? usage : null));
        // Its headers offer to keep the connection, and it ends it all the same.
        response.once("finish", () => response.socket?.end());
      },
    },
  );
  if (outcome.kind === "queue_full") {
    leave();
    sendLlamaError(response, { code: 503, message: "no slot available", type: "unavailable_error" });
    return;
  }
  watchLeaving(exchange, { id, stream, request, leave }, state);
}

/**
 * What becomes of a request whose client has left. A stream ends with its next token; one without a stream, or still
 * queued, only after a second in which nobody else got anything; one that names a conversation goes on to its end.
 */
function watchLeaving(
  { request, response }: LlamaExchange,
  on: { id: string; stream: boolean; request: LlamaRequest; leave: () => void },
  state: LlamaState,
): void {
  response.once("close", () => {
    if (response.writableFinished || request.headers["x-conversation-id"] !== undefined) return;
    const drop = () => {
      if (!state.requests.has(on.id)) return;
      on.leave();
      state.engine.abort(on.id);
      state.log.warn("srv          stop", `cancel task, id_task = ${on.id}`);
    };
    if (on.stream && on.request.processing) {
      drop();
      return;
    }
    const timer = setInterval(() => {
      if (!state.requests.has(on.id)) clearInterval(timer);
      else if (performance.now() - state.wokenAtMs >= SILENCE_MS) {
        clearInterval(timer);
        drop();
      }
    }, SILENCE_MS / 4);
    timer.unref();
  });
}

function isPoolFull({ settings, requests }: LlamaState): boolean {
  if (!settings.unified) return false;
  let used = 0;
  for (const { processing, promptTokens, generated } of requests.values()) {
    if (processing) used += promptTokens + generated;
  }
  return used > settings.slotContext;
}

/** Answers in llama-server's own order of fields. */
function wordsOf(model: string, isChat: boolean, created: number) {
  const id = `chatcmpl-${randomBytes(24).toString("base64url")}`;
  const object = isChat ? "chat.completion.chunk" : "text_completion";
  const tail = { created, id, model, system_fingerprint: "b1-simulated", object };
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  const piece = (content: string) => (isChat ? { delta: { content } } : { text: content, logprobs: null });
  const chunk = (finish_reason: string | null, rest: object) =>
    event({ choices: [{ finish_reason, index: 0, ...rest }], ...tail });
  return {
    opening: isChat ? chunk(null, { delta: { role: "assistant", content: null } }) : "",
    token: (content: string) => chunk(null, piece(content)),
    ending: (reason: string, usage: object | null) =>
      chunk(reason, isChat ? { delta: {} } : { text: "", logprobs: null }) +
      (usage === null ? "" : event({ choices: [], ...tail, usage })) +
      "data: [DONE]\n\n",
    whole: (content: string, finish_reason: string, usage: object) => ({
      choices: [
        { finish_reason, index: 0, ...(isChat ? { message: { role: "assistant", content } } : { text: content }) },
      ],
      ...tail,
      object: isChat ? "chat.completion" : "text_completion",
      usage,
    }),
  };
}
