import type { FinishReason } from "../../engine/engine-stats.ts";
import {
  type AnswerHead,
  type AnswerShape,
  type FinishedChoice,
  framed,
  SSE_DONE,
  sseEvent,
  textOf,
} from "./answer-shape.ts";
import { chatLogprobs } from "./logprobs.ts";

/** What stands around the words of an answer that are a function's arguments. */
const ARGUMENTS = ['{"text": "', '"}'] as const;

/** `/v1/chat/completions` */
export const chatShape: AnswerShape = {
  idPrefix: "chatcmpl-",
  preamble: () => "",
  opening(head, choice) {
    const role = chunk(head, { index: choice, delta: { role: "assistant", content: head.tool === null ? "" : null } });
    return head.tool === null ? role : role + chunk(head, { index: choice, delta: callDelta(head, ARGUMENTS[0]) });
  },
  tokenWriter(head, choice) {
    const { topLogprobs } = head;
    if (head.tool !== null) {
      return framed((text) => chunk(head, { index: choice, delta: argumentsDelta(text) }));
    }
    if (topLogprobs === null) {
      return framed((content) => chunk(head, { index: choice, delta: { content } }));
    }
    return (token) =>
      chunk(head, { index: choice, delta: { content: token.text }, logprobs: chatLogprobs([token], topLogprobs) });
  },
  ending(head, choice, { reason }) {
    const last = head.tool === null ? "" : chunk(head, { index: choice, delta: argumentsDelta(ARGUMENTS[1]) });
    const finish_reason = reasonOf(head, reason);
    return last + chunk(head, { index: choice, delta: { content: "" }, finish_reason, stop_reason: null });
  },
  closing: (head, _choices, { asked, counts }) =>
    (asked ? sseEvent({ ...chunkHead(head), choices: [], usage: counts }) : "") + SSE_DONE,
  whole: (head, choices, usage) => ({
    ...chunkHead(head),
    object: "chat.completion",
    choices: choices.map((finished, index) => ({
      index,
      message: message(head, finished),
      logprobs: head.topLogprobs === null ? null : chatLogprobs(finished.tokens, head.topLogprobs),
      finish_reason: reasonOf(head, finished.reason),
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

function message(head: AnswerHead, finished: FinishedChoice) {
  const text = textOf(finished);
  const call = { id: callId(head), type: "function", function: { name: head.tool, arguments: ARGUMENTS.join(text) } };
  return {
    role: "assistant",
    content: head.tool === null ? text : null,
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    tool_calls: head.tool === null ? [] : [call],
    reasoning: null,
  };
}

function reasonOf({ tool }: AnswerHead, reason: FinishReason): string {
  return tool !== null && reason !== "abort" ? "tool_calls" : reason;
}

const callId = ({ id }: AnswerHead) => `chatcmpl-tool-${id.slice(-24)}`;

function callDelta(head: AnswerHead, words: string) {
  const call = { id: callId(head), type: "function", index: 0, function: { name: head.tool, arguments: words } };
  return { tool_calls: [call] };
}

function argumentsDelta(words: string) {
  return { tool_calls: [{ index: 0, function: { arguments: words } }] };
}

function chunkHead({ id, created, model }: AnswerHead) {
  return { id, object: "chat.completion.chunk", created, model };
}

interface ChunkChoice {
  readonly index: number;
  readonly delta: object;
  readonly logprobs?: object;
  readonly finish_reason?: string;
  readonly stop_reason?: null;
}

function chunk(head: AnswerHead, { logprobs, finish_reason, ...choice }: ChunkChoice): string {
  const filled = { ...choice, logprobs: logprobs ?? null, finish_reason: finish_reason ?? null, token_ids: null };
  return sseEvent({ ...chunkHead(head), choices: [filled] });
}
