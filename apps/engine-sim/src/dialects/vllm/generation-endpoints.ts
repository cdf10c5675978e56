import type { HttpExchange } from "../../http/http-server.ts";
import { admitBody, admitGeneration } from "./admission.ts";
import { type AnswerShape, chatShape, completionShape } from "./answer-shape.ts";
import { sendError } from "./errors.ts";
import { runGeneration } from "./generation.ts";
import { type PlanInput, planGeneration } from "./generation-plan.ts";
import { chatPrompt, chatSchema, completionSchema, promptList } from "./request-schema.ts";
import type { ServerState } from "./server-state.ts";

/** OpenAI's default for the legacy endpoint, which vLLM keeps. */
const COMPLETION_DEFAULT_TOKENS = 16;

/** `POST /v1/chat/completions` */
export function chatCompletions(exchange: HttpExchange, state: ServerState): void {
  if (!admitGeneration(exchange, state)) {
    return;
  }
  const request = admitBody(exchange, chatSchema, state);
  if (request === undefined) {
    return;
  }
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  answer({ prompts: [chatPrompt(request.messages)], maxTokens, request }, chatShape, { exchange, state });
}

/** `POST /v1/completions` */
export function completions(exchange: HttpExchange, state: ServerState): void {
  if (!admitGeneration(exchange, state)) {
    return;
  }
  const request = admitBody(exchange, completionSchema, state);
  if (request === undefined) {
    return;
  }
  const limited = !request.ignore_eos || request.max_tokens != null;
  const maxTokens = limited ? (request.max_tokens ?? COMPLETION_DEFAULT_TOKENS) : undefined;
  answer({ prompts: promptList(request.prompt), maxTokens, request }, completionShape, { exchange, state });
}

function answer(input: PlanInput, shape: AnswerShape, on: { exchange: HttpExchange; state: ServerState }): void {
  const { exchange, state } = on;
  const outcome = planGeneration(input, state.settings);
  if (outcome.kind === "refused") {
    sendError(exchange.response, outcome.error);
    return;
  }
  const includeUsage = state.settings.forceIncludeUsage || input.request.stream_options?.include_usage === true;
  const stream = input.request.stream === true;
  runGeneration({ exchange, shape, choices: outcome.choices, stream, includeUsage }, state);
}
