import { answerText, answerToken } from "../../core/answer.ts";
import type { FinishReason } from "../../engine/engine-stats.ts";
import type { HttpExchange } from "../../http/http-server.ts";
import { sendJson } from "../../http/http-server.ts";
import { requestId } from "./admission.ts";
import { type AnswerHead, type AnswerShape, type FinishedChoice, SSE_DONE, type Usage } from "./answer-shape.ts";
import { sendError, statusError } from "./errors.ts";
import type { PlannedChoice } from "./generation-plan.ts";
import type { ServerState } from "./server-state.ts";

export interface GenerationJob {
  readonly exchange: HttpExchange;
  readonly shape: AnswerShape;
  readonly choices: readonly PlannedChoice[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

/** What gets the tokens of all choices of one request. */
interface Writer {
  begin(): void;
  token(choice: number, index: number): void;
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
  };
  const generated = job.choices.map(() => 0);
  const cached = job.choices.map(() => 0);
  const usage = (): Usage => usageOf(job.choices, { generated, cached }, state);
  const writer = job.stream ? streamWriter(job, { head, usage, state }) : wholeWriter(job, { head, usage, generated });
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
          generated[choice] = index + 1;
          writer.token(choice, index);
        },
        finish: (reason) => writer.finish(choice, reason),
      },
    );
    if (outcome.kind === "queue_full") {
      sequenceIds.forEach((id) => void state.engine.abort(id));
      sendError(response, statusError(503, `The request queue is full (${outcome.limit}). Try again later.`));
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

interface StreamParts {
  readonly head: AnswerHead;
  readonly usage: () => Usage;
  readonly state: ServerState;
}

function streamWriter(job: GenerationJob, { head, usage, state }: StreamParts): Writer {
  const { shape, choices } = job;
  const { response } = job.exchange;
  const frames = choices.map((_, choice) => shape.tokenFrame(head, choice));
  let open = choices.length;
  let sent = 0;

  return {
    // vLLM answers with its head at once, while the request may still be waiting; a hung engine answers nothing.
    begin() {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      if (state.faults.find("hang") === undefined) {
        response.flushHeaders();
      }
    },
    token(choice, index) {
      if (index === 0) {
        const opening = shape.opening(head, choice);
        if (opening !== undefined) {
          response.write(opening);
        }
      }
      const [before, after] = frames[choice] ?? ["", ""];
      const planned = choices[choice];
      const token = answerToken(planned?.prompt.hash ?? 0, planned?.variant ?? 0, index);
      response.write(before + JSON.stringify(token) + after);
      sent += 1;
      breakMidStream(job, sent, state);
    },
    finish(choice, reason) {
      response.write(shape.ending(head, choice, reason));
      open -= 1;
      if (open > 0) {
        return;
      }
      if (job.includeUsage) {
        response.write(shape.usage(head, usage()));
      }
      response.end(SSE_DONE);
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

interface WholeParts {
  readonly head: AnswerHead;
  readonly usage: () => Usage;
  readonly generated: readonly number[];
}

function wholeWriter(job: GenerationJob, { head, usage, generated }: WholeParts): Writer {
  const finished = new Map<number, FinishedChoice>();
  return {
    begin: () => undefined,
    token: () => undefined,
    finish(choice, reason) {
      const planned = job.choices[choice];
      const text = answerText(planned?.prompt.hash ?? 0, planned?.variant ?? 0, generated[choice] ?? 0);
      finished.set(choice, { text, reason });
      if (finished.size === job.choices.length) {
        const inOrder = job.choices.flatMap((_, index) => finished.get(index) ?? []);
        sendJson(job.exchange.response, 200, job.shape.whole(head, inOrder, usage()));
      }
    },
  };
}

interface TokenCounts {
  readonly generated: readonly number[];
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
  const completion = generated.reduce((sum, tokens) => sum + tokens, 0);
  return {
    prompt_tokens: prompts,
    total_tokens: prompts + completion,
    completion_tokens: completion,
    prompt_tokens_details: state.settings.promptTokensDetails ? { cached_tokens: cachedTokens } : null,
  };
}
