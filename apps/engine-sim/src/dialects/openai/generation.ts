import { answerToken } from "../../core/answer.ts";
import type { FinishReason } from "../../engine/engine-stats.ts";
import type { HttpExchange } from "../../http/http-server.ts";
import { sendJson } from "../../http/http-server.ts";
import { requestId } from "./admission.ts";
import type { AnswerHead, AnswerShape, FinishedChoice, Usage } from "./answer-shape.ts";
import { sendError, statusError } from "./errors.ts";
import { createEventSender } from "./event-sender.ts";
import type { PlannedChoice } from "./generation-plan.ts";
import type { AnsweredToken } from "./logprobs.ts";
import type { ServerState } from "./server-state.ts";

export interface GenerationJob {
  readonly exchange: HttpExchange;
  readonly shape: AnswerShape;
  readonly choices: readonly PlannedChoice[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly topLogprobs: number | null;
  readonly tool: string | null;
}

/** What gets the tokens of all choices of one request. */
interface Writer {
  begin(): void;
  token(choice: number, token: AnsweredToken): void;
  finish(choice: number, reason: FinishReason): void;
}

/** Runs all choices of a request and writes the answer, streamed or whole. The client leaving aborts them at once. */
export function runGeneration(job: GenerationJob, state: ServerState): void {
  const { response } = job.exchange;
  const number = state.nextRequestNumber;
  state.nextRequestNumber += 1;
  const head: AnswerHead = {
    id: `${job.shape.idPrefix}${requestId(job.exchange)}`,
    created: Math.floor(state.wallClockMs() / 1000),
    model: state.settings.servedNames[0],
    topLogprobs: job.topLogprobs,
    tool: job.tool,
  };
  const generated = job.choices.map((): AnsweredToken[] => []);
  const cached = job.choices.map(() => 0);
  const usage = (): Usage => usageOf(job.choices, { generated, cached }, state);
  const parts = { head, usage, generated, state };
  const writer = job.stream ? streamWriter(job, parts) : wholeWriter(job, parts);
  const sequenceIds = job.choices.map((_, choice) => `${number}-${choice}`);

  for (const [choice, planned] of job.choices.entries()) {
    const outcome = state.engine.generate(
      {
        id: sequenceIds[choice] ?? "",
        promptTokens: planned.prompt.count,
        outputTokens: planned.outputTokens,
        prefixHashes: planned.prompt.blockHashes,
        endReason: planned.endReason,
      },
      {
        prefilled: (cachedTokens) => {
          cached[choice] = cachedTokens;
        },
        token: (index) => {
          const token = { text: tokenText(planned, index, state), index };
          generated[choice]?.push(token);
          writer.token(choice, token);
        },
        finish: (reason) => writer.finish(choice, reason),
      },
    );
    if (outcome.kind === "queue_full") {
      sequenceIds.forEach((id) => void state.engine.abort(id));
      sendError(response, statusError(503, `The request queue is full (${outcome.limit}). Try again later.`), state);
      return;
    }
  }

  state.load += 1;
  response.once("close", () => {
    state.load -= 1;
    for (const id of sequenceIds) {
      state.engine.abort(id);
    }
  });
  writer.begin();
}

/** Tokens of several bytes, of which a cut can hit the middle, only where such a cut is asked for. */
function tokenText({ prompt, variant }: PlannedChoice, index: number, state: ServerState): string {
  const word = answerToken(prompt.hash, variant, index);
  return state.faults.find("utf8-splits") === undefined ? word : `${word}é€😀`;
}

interface WriterParts {
  readonly head: AnswerHead;
  readonly usage: () => Usage;
  readonly generated: readonly (readonly AnsweredToken[])[];
  readonly state: ServerState;
}

function streamWriter(job: GenerationJob, { head, usage, generated, state }: WriterParts): Writer {
  const { shape, choices } = job;
  const { response } = job.exchange;
  const { faults } = state;
  const writers = choices.map((_, choice) => shape.tokenWriter(head, choice));
  const finished: FinishedChoice[] = [];
  const sender = createEventSender(response, () => {
    return faults.find("half-events")?.kind ?? faults.find("utf8-splits")?.kind ?? "whole";
  });
  let sent = 0;
  let started = false;

  return {
    // The head leaves at once, while the request may still be waiting; a hung engine answers nothing.
    begin() {
      if (faults.find("close-delimited") !== undefined) {
        response.useChunkedEncodingByDefault = false;
        response.shouldKeepAlive = false;
      }
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      if (faults.find("hang") === undefined) {
        response.flushHeaders();
      }
    },
    token(choice, token) {
      const preamble = started ? "" : shape.preamble(head);
      started = true;
      const opening = token.index === 0 ? shape.opening(head, choice) : "";
      sender.send(preamble + opening + (writers[choice]?.(token) ?? ""));
      sent += 1;
      breakMidStream(job, sent, state);
    },
    finish(choice, reason) {
      const done = { tokens: generated[choice] ?? [], reason };
      finished.push(done);
      sender.send(shape.ending(head, choice, done));
      if (finished.length === choices.length) {
        sender.end(shape.closing(head, finished, { asked: job.includeUsage, counts: usage() }));
      }
    },
  };
}

/** Breaks only after the tokens so far have left, which happens before the next turn of the event loop. */
function breakMidStream(job: GenerationJob, sent: number, state: ServerState): void {
  if (sent >= (state.faults.find("crash-mid-stream")?.tokens ?? Number.POSITIVE_INFINITY)) {
    setImmediate(state.crash);
  } else if (sent >= (state.faults.find("reset-mid-stream")?.tokens ?? Number.POSITIVE_INFINITY)) {
    setImmediate(() => void job.exchange.request.socket.resetAndDestroy());
  }
}

function wholeWriter(job: GenerationJob, { head, usage, generated }: WriterParts): Writer {
  const finished = new Map<number, FinishedChoice>();
  return {
    begin: () => undefined,
    token: () => undefined,
    finish(choice, reason) {
      finished.set(choice, { tokens: generated[choice] ?? [], reason });
      if (finished.size === job.choices.length) {
        const inOrder = job.choices.flatMap((_, index) => finished.get(index) ?? []);
        sendJson(job.exchange.response, 200, job.shape.whole(head, inOrder, usage()));
      }
    },
  };
}

interface TokenCounts {
  readonly generated: readonly (readonly AnsweredToken[])[];
  readonly cached: readonly number[];
}

/** The prompt counts once however many answers it gets; a batch of prompts counts each. */
function usageOf(choices: readonly PlannedChoice[], { generated, cached }: TokenCounts, state: ServerState): Usage {
  let prompts = 0;
  let cachedTokens = 0;
  for (const [choice, { variant, prompt }] of choices.entries()) {
    prompts += variant === 0 ? prompt.count : 0;
    cachedTokens += variant === 0 ? (cached[choice] ?? 0) : 0;
  }
  const completion = generated.reduce((sum, tokens) => sum + tokens.length, 0);
  return {
    prompt_tokens: prompts,
    total_tokens: prompts + completion,
    completion_tokens: completion,
    prompt_tokens_details: state.settings.promptTokensDetails ? { cached_tokens: cachedTokens } : null,
  };
}
