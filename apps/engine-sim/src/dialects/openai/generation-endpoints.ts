import type { HttpExchange } from "../../http/http-server.ts";
import { admitBody, admitGeneration } from "./admission.ts";
import type { AnswerShape } from "./answer-shape.ts";
import { chatShape } from "./chat-shape.ts";
import { completionShape } from "./completion-shape.ts";
import { badRequest, sendError } from "./errors.ts";
import { runGeneration } from "./generation.ts";
import { type PlanInput, planGeneration } from "./generation-plan.ts";
import { messagesShape } from "./messages-shape.ts";
import {
  type ChatRequest,
  chatPrompt,
  chatSchema,
  completionSchema,
  contentText,
  messagesSchema,
  promptList,
  responsesSchema,
} from "./request-schema.ts";
import { responsesShape } from "./responses-shape.ts";
import type { ServerState } from "./server-state.ts";

/** OpenAI's default for the legacy endpoint, which the engines keep. */
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
  const { tools, tool_choice: choice } = request;
  if ((choice ?? "auto") === "auto" && (tools?.length ?? 0) > 0 && !state.settings.autoToolChoice) {
    const words = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set';
    sendError(exchange.response, badRequest(words), state);
    return;
  }
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? undefined;
  const extras = { topLogprobs: request.logprobs === true ? (request.top_logprobs ?? 0) : null, tool: toolOf(request) };
  const input = { prompts: [chatPrompt(request.messages)], maxTokens, request };
  answer(input, { shape: chatShape, ...extras }, { exchange, state });
}

/** The function that a chat request makes the model call: the named one, else the first. */
function toolOf({ tools, tool_choice: choice }: ChatRequest): string | null {
  const first = tools?.[0]?.function.name;
  if (first === undefined || choice === "none") {
    return null;
  }
  return typeof choice === "object" && choice !== null ? choice.function.name : first;
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
  const input = { prompts: promptList(request.prompt), maxTokens, request };
  answer(input, { shape: completionShape, topLogprobs: request.logprobs ?? null, tool: null }, { exchange, state });
}

/** `POST /v1/responses` */
export function responses(exchange: HttpExchange, state: ServerState): void {
  if (!admitGeneration(exchange, state)) {
    return;
  }
  const request = admitBody(exchange, responsesSchema, state);
  if (request === undefined) {
    return;
  }
  const { input, instructions, stream, ignore_eos } = request;
  const turns = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const system = instructions == null ? [] : [{ role: "system", content: instructions }];
  const length = { min_tokens: 0, n: 1, stream, stream_options: null, ignore_eos };
  const plan = {
    prompts: [chatPrompt([...system, ...turns])],
    maxTokens: request.max_output_tokens ?? undefined,
    request: length,
  };
  answer(plan, { shape: responsesShape, topLogprobs: null, tool: null }, { exchange, state });
}

/** `POST /v1/messages` */
export function messages(exchange: HttpExchange, state: ServerState): void {
  if (!admitGeneration(exchange, state)) {
    return;
  }
  const request = admitBody(exchange, messagesSchema, state);
  if (request === undefined) {
    return;
  }
  const { system, stream } = request;
  const turns = system == null ? [] : [{ role: "system", content: contentText(system) }];
  const length = { min_tokens: 0, n: 1, stream, stream_options: null, ignore_eos: false };
  const plan = {
    prompts: [chatPrompt([...turns, ...request.messages])],
    maxTokens: request.max_tokens,
    request: length,
  };
  answer(plan, { shape: messagesShape, topLogprobs: null, tool: null }, { exchange, state });
}

interface Wording {
  readonly shape: AnswerShape;
  readonly topLogprobs: number | null;
  readonly tool: string | null;
}

function answer(input: PlanInput, wording: Wording, on: { exchange: HttpExchange; state: ServerState }): void {
  const { exchange, state } = on;
  const outcome = planGeneration(input, state.settings);
  if (outcome.kind === "refused") {
    sendError(exchange.response, outcome.error, state);
    return;
  }
  const includeUsage = state.settings.forceIncludeUsage || input.request.stream_options?.include_usage === true;
  const stream = input.request.stream === true;
  runGeneration({ exchange, ...wording, choices: outcome.choices, stream, includeUsage }, state);
}
