import type { FinishReason } from "../../engine/engine-stats.ts";
import { type AnswerHead, type AnswerShape, framed, namedEvent, textOf } from "./answer-shape.ts";

/** `/v1/messages`, the form of Anthropic's API. */
export const messagesShape: AnswerShape = {
  idPrefix: "msg_",
  preamble: (head) =>
    namedEvent("message_start", {
      message: { ...message(head, []), stop_reason: null, usage: { input_tokens: 0, output_tokens: 0 } },
    }),
  opening: (_head, index) => namedEvent("content_block_start", { index, content_block: { type: "text", text: "" } }),
  tokenWriter: (_head, index) =>
    framed((text) => namedEvent("content_block_delta", { index, delta: { type: "text_delta", text } })),
  ending: (_head, index) => namedEvent("content_block_stop", { index }),
  closing: (_head, choices, { counts }) =>
    namedEvent("message_delta", {
      delta: { stop_reason: stopReason(choices[0]?.reason), stop_sequence: null },
      usage: { input_tokens: counts.prompt_tokens, output_tokens: counts.completion_tokens },
    }) + namedEvent("message_stop", {}),
  whole: (head, choices, usage) => ({
    ...message(
      head,
      choices.map((choice) => ({ type: "text", text: textOf(choice) })),
    ),
    stop_reason: stopReason(choices[0]?.reason),
    usage: { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens },
  }),
};

function message({ id, model }: AnswerHead, content: readonly object[]) {
  return { id, type: "message", role: "assistant", model, content, stop_sequence: null };
}

function stopReason(reason: FinishReason | undefined): string {
  return reason === "length" ? "max_tokens" : "end_turn";
}
