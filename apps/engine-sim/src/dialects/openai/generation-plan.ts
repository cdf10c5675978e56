import { naturalLength } from "../../core/answer.ts";
import { type TokenizedPrompt, tokenizePrompt } from "../../core/tokens.ts";
import type { FinishReason } from "../../engine/engine-stats.ts";
import { badRequest, contextTooLong, type ServeError } from "./errors.ts";
import type { LengthRequest } from "./request-schema.ts";
import type { ServeSettings } from "./serve-settings.ts";

/** One sequence of a request and how it will end. */
export interface PlannedChoice {
  readonly prompt: TokenizedPrompt;
  /** Which of the `n` answers to its prompt this is. */
  readonly variant: number;
  readonly outputTokens: number;
  readonly endReason: FinishReason;
}

export type PlanOutcome =
  | { readonly kind: "plan"; readonly choices: readonly PlannedChoice[] }
  | { readonly kind: "refused"; readonly error: ServeError };

export interface PlanInput {
  readonly prompts: readonly (string | readonly number[])[];
  readonly maxTokens: number | undefined;
  readonly request: LengthRequest;
}

/**
 * Decides how many tokens each choice gets. A limit given by the client is always reached exactly, which is what tests
 * and load generators want; without one the answer ends by itself after about 40 tokens, or at the end of the context
 * with `ignore_eos`.
 */
export function planGeneration(input: PlanInput, settings: ServeSettings): PlanOutcome {
  const { request, maxTokens } = input;
  if (request.stream_options != null && request.stream !== true) {
    return refuse(badRequest("Stream options can only be defined when `stream=True`."));
  }
  if (maxTokens !== undefined && maxTokens < 1) {
    return refuse(badRequest(`max_tokens must be at least 1, got ${maxTokens}.`, "max_tokens"));
  }
  if (maxTokens !== undefined && request.min_tokens > maxTokens) {
    return refuse(
      badRequest(`min_tokens must be less than or equal to max_tokens=${maxTokens}, got ${request.min_tokens}.`),
    );
  }
  if (input.prompts.length === 0) {
    return refuse(badRequest("Either prompt or prompt_embeds must be provided and non-empty.", "prompt"));
  }
  const choices: PlannedChoice[] = [];
  for (const source of input.prompts) {
    const prompt = tokenizePrompt(source, { maxTokens: settings.maxModelLen, blockSize: settings.blockSize });
    if (prompt.count === 0) {
      return refuse(badRequest("The decoder prompt cannot be empty"));
    }
    const room = settings.maxModelLen - prompt.count;
    if (room < (maxTokens ?? 1)) {
      const asked = { inputTokens: prompt.count, outputTokens: maxTokens ?? 1 };
      return refuse(contextTooLong(settings.maxModelLen, asked));
    }
    const length = outputLength(input, prompt, room);
    for (let variant = 0; variant < (request.n ?? 1); variant += 1) {
      choices.push({ prompt, variant, ...length });
    }
  }
  return { kind: "plan", choices };
}

function outputLength(input: PlanInput, prompt: TokenizedPrompt, room: number) {
  if (input.maxTokens !== undefined) {
    return { outputTokens: input.maxTokens, endReason: "length" as const };
  }
  const wanted = input.request.ignore_eos ? room : Math.max(naturalLength(prompt.hash), input.request.min_tokens);
  return wanted < room
    ? { outputTokens: wanted, endReason: "stop" as const }
    : { outputTokens: room, endReason: "length" as const };
}

function refuse(error: ServeError): PlanOutcome {
  return { kind: "refused", error };
}
