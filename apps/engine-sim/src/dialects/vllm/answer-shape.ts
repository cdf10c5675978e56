import type { FinishReason } from "../../engine/engine-stats.ts";

export interface AnswerHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number } | null;
}

/**
 * How one endpoint words its answers. Token events are built by joining strings around the token, as they are made for
 * every token of every stream.
 */
export interface AnswerShape {
  readonly idPrefix: string;
  /** The event that opens a choice, where the endpoint has one. */
  opening(head: AnswerHead, choice: number): string | undefined;
  /** What stands before and after a token (as JSON) in its event. */
  tokenFrame(head: AnswerHead, choice: number): readonly [string, string];
  ending(head: AnswerHead, choice: number, reason: FinishReason): string;
  usage(head: AnswerHead, usage: Usage): string;
  /** The whole answer without streaming. */
  whole(head: AnswerHead, choices: readonly FinishedChoice[], usage: Usage): unknown;
}

export interface FinishedChoice {
  readonly text: string;
  readonly reason: FinishReason;
}

export const SSE_DONE = "data: [DONE]\n\n";

/** One server-sent event. */
function sseEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export const chatShape: AnswerShape = {
  idPrefix: "chatcmpl-",
  opening: (head, choice) => chatChunk(head, chatDelta(choice, { role: "assistant", content: "" }, null)),
  tokenFrame: (head, choice) => {
    const [before, after] = splitAtMarker(chatChunk(head, chatDelta(choice, { content: TOKEN_MARKER }, null)));
    return [before, after];
  },
  ending: (head, choice, reason) =>
    chatChunk(head, { ...chatDelta(choice, { content: "" }, reason), stop_reason: null }),
  usage: (head, usage) => sseEvent({ ...chunkHead(head, "chat.completion.chunk"), choices: [], usage }),
  whole: (head, choices, usage) => ({
    ...chunkHead(head, "chat.completion"),
    choices: choices.map(({ text, reason }, index) => ({
      index,
      message: {
        role: "assistant",
        content: text,
        refusal: null,
        annotations: null,
        audio: null,
        function_call: null,
        tool_calls: [],
        reasoning: null,
      },
      logprobs: null,
      finish_reason: reason,
      stop_reason: null,
      token_ids: null,
    })),
    service_tier: null,
    system_fingerprint: null,
    usage,
    prompt_logprobs: null,
    prompt_token_ids: null,
    kv_transfer_params: null,
  }),
};

export const completionShape: AnswerShape = {
  idPrefix: "cmpl-",
  opening: () => undefined,
  tokenFrame: (head, choice) => splitAtMarker(textChunk(head, textChoice(choice, TOKEN_MARKER, null))),
  ending: (head, choice, reason) => textChunk(head, textChoice(choice, "", reason)),
  usage: (head, usage) => sseEvent({ ...chunkHead(head, "text_completion"), choices: [], usage }),
  whole: (head, choices, usage) => ({
    ...chunkHead(head, "text_completion"),
    choices: choices.map(({ text, reason }, index) => ({
      ...textChoice(index, text, reason),
      token_ids: null,
      prompt_logprobs: null,
      prompt_token_ids: null,
    })),
    service_tier: null,
    system_fingerprint: null,
    usage,
    kv_transfer_params: null,
  }),
};

const TOKEN_MARKER = "@token@";

function chunkHead({ id, created, model }: AnswerHead, object: string) {
  return { id, object, created, model };
}

function chatChunk(head: AnswerHead, choice: unknown): string {
  return sseEvent({ ...chunkHead(head, "chat.completion.chunk"), choices: [choice] });
}

function chatDelta(index: number, delta: object, reason: FinishReason | null) {
  return { index, delta, logprobs: null, finish_reason: reason, token_ids: null };
}

function textChunk(head: AnswerHead, choice: unknown): string {
  return sseEvent({ ...chunkHead(head, "text_completion"), choices: [choice] });
}

function textChoice(index: number, text: string, reason: FinishReason | null) {
  return { index, text, logprobs: null, finish_reason: reason, stop_reason: null };
}

/** The model's name may hold the marker's text, so the last occurrence is the token's place. */
function splitAtMarker(event: string): readonly [string, string] {
  const marker = JSON.stringify(TOKEN_MARKER);
  const at = event.lastIndexOf(marker);
  return [event.slice(0, at), event.slice(at + marker.length)];
}
