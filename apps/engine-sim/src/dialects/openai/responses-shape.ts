import {
  type AnswerHead,
  type AnswerShape,
  type FinishedChoice,
  framed,
  namedEvent,
  textOf,
  type Usage,
} from "./answer-shape.ts";

/** `/v1/responses`: one message with one part of text. */
export const responsesShape: AnswerShape = {
  idPrefix: "resp_",
  preamble(head) {
    const response = body(head, { status: "in_progress", output: [], usage: null });
    return namedEvent("response.created", { response }) + namedEvent("response.in_progress", { response });
  },
  opening(head) {
    const item = { ...messageItem(head, []), status: "in_progress" };
    const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
    return (
      namedEvent("response.output_item.added", { output_index: 0, item }) +
      namedEvent("response.content_part.added", { ...place(head), part })
    );
  },
  tokenWriter: (head) => framed((delta) => namedEvent("response.output_text.delta", { ...place(head), delta })),
  ending(head, _choice, finished) {
    const text = textOf(finished);
    const item = messageItem(head, [finished]);
    return (
      namedEvent("response.output_text.done", { ...place(head), text }) +
      namedEvent("response.content_part.done", { ...place(head), part: item.content[0] }) +
      namedEvent("response.output_item.done", { output_index: 0, item })
    );
  },
  closing: (head, choices, { counts }) =>
    namedEvent("response.completed", { response: finishedBody(head, choices, counts) }),
  whole: finishedBody,
};

function finishedBody(head: AnswerHead, choices: readonly FinishedChoice[], usage: Usage) {
  const isCut = choices.some(({ reason }) => reason === "length");
  return body(head, {
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    output: [messageItem(head, choices)],
    usage: {
      input_tokens: usage.prompt_tokens,
      input_tokens_details: { cached_tokens: usage.prompt_tokens_details?.cached_tokens ?? 0 },
      output_tokens: usage.completion_tokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.total_tokens,
    },
  });
}

function body({ id, created, model }: AnswerHead, rest: object) {
  return { id, object: "response", created_at: created, model, error: null, ...rest };
}

function messageItem({ id }: AnswerHead, choices: readonly FinishedChoice[]) {
  return {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    status: "completed",
    content: choices.map((choice) => ({ type: "output_text", text: textOf(choice), annotations: [], logprobs: [] })),
  };
}

function place({ id }: AnswerHead) {
  return { item_id: `msg_${id}`, output_index: 0, content_index: 0 };
}
