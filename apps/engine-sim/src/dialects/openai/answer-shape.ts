import type { FinishReason } from "../../engine/engine-stats.ts";
import type { AnsweredToken } from "./logprobs.ts";

export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  /** How many rivals of each token to tell; null: no log probabilities at all. */
  readonly topLogprobs: number | null;
  /** The function that is called instead of an answer in words. */
  readonly tool: string | null;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number } | null;
}

export interface FinishedChoice {
  readonly tokens: readonly AnsweredToken[];
  readonly reason: FinishReason;
}

/** How one endpoint words its answers, as server-sent events and whole. */
export interface AnswerShape {
  readonly idPrefix: string;
  /** Events before the first token of any choice. */
  preamble(head: AnswerHead): string;
  /** The events that open a choice, sent with its first token. */
  opening(head: AnswerHead, choice: number): string;
  /** Words one token's event. Made once a choice: it is called for every token of every stream. */
  tokenWriter(head: AnswerHead, choice: number): (token: AnsweredToken) => string;
  ending(head: AnswerHead, choice: number, finished: FinishedChoice): string;
  /** What ends the stream; `usage` is undefined where the client did not ask for it. */
  closing(head: AnswerHead, choices: readonly FinishedChoice[], usage: { asked: boolean; counts: Usage }): string;
  /** The whole answer without streaming. */
  whole(head: AnswerHead, choices: readonly FinishedChoice[], usage: Usage): unknown;
}

export const SSE_DONE = "data: [DONE]\n\n";

/** One server-sent event. */
export function sseEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** One server-sent event with a name. */
export function namedEvent(name: string, value: object): string {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...value })}\n\n`;
}

export const textOf = ({ tokens }: FinishedChoice): string => tokens.map(({ text }) => text).join("");

const TOKEN_MARKER = "@token@";

/**
 * Builds token events by joining strings around the token.
 *
 * @param event the event of a token with this text, as the endpoint words it
 */
export function framed(event: (text: string) => string): (token: AnsweredToken) => string {
  const marker = JSON.stringify(TOKEN_MARKER);
  const whole = event(TOKEN_MARKER);
  // The model's name may hold the marker's text, so the last occurrence is the token's place.
  const at = whole.lastIndexOf(marker);
  const [before, after] = [whole.slice(0, at), whole.slice(at + marker.length)];
  return ({ text }) => before + JSON.stringify(text) + after;
}
