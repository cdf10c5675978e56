import { type AnswerHead, type AnswerShape, framed, SSE_DONE, sseEvent, textOf } from "./answer-shape.ts";
import { textLogprobs } from "./logprobs.ts";

/** `/v1/completions` */
export const completionShape: AnswerShape = {
  idPrefix: "cmpl-",
  preamble: () => "",
  opening: () => "",
  tokenWriter(head, choice) {
    const { topLogprobs } = head;
    if (topLogprobs === null) {
      return framed((text) => chunk(head, { ...blank, index: choice, text }));
    }
    return (token) =>
      chunk(head, { ...blank, index: choice, text: token.text, logprobs: textLogprobs([token], topLogprobs) });
  },
  ending: (head, choice, { reason }) => chunk(head, { ...blank, index: choice, text: "", finish_reason: reason }),
  closing: (head, _choices, { asked, counts }) =>
    (asked ? sseEvent({ ...chunkHead(head), choices: [], usage: counts }) : "") + SSE_DONE,
  whole: (head, choices, usage) => ({
    ...chunkHead(head),
    choices: choices.map((finished, index) => ({
      ...blank,
      index,
      text: textOf(finished),
      logprobs: head.topLogprobs === null ? null : textLogprobs(finished.tokens, head.topLogprobs),
      finish_reason: finished.reason,
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

const blank = { index: 0, text: "", logprobs: null, finish_reason: null, stop_reason: null };

function chunkHead({ id, created, model }: AnswerHead) {
  return { id, object: "text_completion", created, model };
}

function chunk(head: AnswerHead, choice: object): string {
  return sseEvent({ ...chunkHead(head), choices: [choice] });
}
