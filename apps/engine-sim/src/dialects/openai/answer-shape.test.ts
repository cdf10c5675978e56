import { describe, expect, it } from "vitest";
import { type AnswerHead, SSE_DONE } from "./answer-shape.ts";
import { chatShape } from "./chat-shape.ts";
import { completionShape } from "./completion-shape.ts";
import { messagesShape } from "./messages-shape.ts";
import { responsesShape } from "./responses-shape.ts";

const HEAD: AnswerHead = { id: "chatcmpl-1", created: 1, model: 'odd "@token@" name', topLogprobs: null, tool: null };
const USAGE = { prompt_tokens: 2, total_tokens: 5, completion_tokens: 3, prompt_tokens_details: null };
const DONE = {
  tokens: [
    { text: "one", index: 0 },
    { text: " two", index: 1 },
  ],
  reason: "length",
} as const;
const token = { text: ' a"b', index: 0 };

function eventOf(text: string): unknown {
  expect(text.startsWith("data: ")).toBe(true);
  expect(text.endsWith("\n\n")).toBe(true);
  expect(text.slice(0, -2)).not.toContain("\n");
  return JSON.parse(text.slice("data: ".length));
}

const eventsOf = (text: string) =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => eventOf(`${event}\n\n`));
const namesOf = (text: string) => [...text.matchAll(/^event: (\S+)$/gm)].map(([, name]) => name);

describe("server-sent events", () => {
  it("open a chat answer with the role, carry one token each, and close with the reason", () => {
    const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: HEAD.model };
    expect(eventOf(chatShape.opening(HEAD, 1))).toMatchObject({
      ...chunk,
      choices: [{ index: 1, delta: { role: "assistant", content: "" }, finish_reason: null }],
    });
    expect(eventOf(chatShape.tokenWriter(HEAD, 1)(token))).toMatchObject({
      ...chunk,
      choices: [{ index: 1, delta: { content: ' a"b' }, logprobs: null, finish_reason: null }],
    });
    expect(eventOf(chatShape.ending(HEAD, 1, DONE))).toMatchObject({
      choices: [{ index: 1, delta: { content: "" }, finish_reason: "length", stop_reason: null }],
    });
    const closing = chatShape.closing(HEAD, [DONE], { asked: true, counts: USAGE });
    expect(closing.endsWith(SSE_DONE)).toBe(true);
    expect(eventOf(closing.slice(0, -SSE_DONE.length))).toEqual({ ...chunk, choices: [], usage: USAGE });
    expect(chatShape.closing(HEAD, [DONE], { asked: false, counts: USAGE })).toBe("data: [DONE]\n\n");
  });

  it("have no opening for a text completion", () => {
    expect(completionShape.opening(HEAD, 0)).toBe("");
    expect(eventOf(completionShape.tokenWriter(HEAD, 0)({ text: "x", index: 0 }))).toMatchObject({
      object: "text_completion",
      choices: [{ index: 0, text: "x", finish_reason: null }],
    });
  });

  it("tell each token's probability where that is asked for", () => {
    const head = { ...HEAD, topLogprobs: 2 };
    const chat = JSON.stringify(eventOf(chatShape.tokenWriter(head, 0)(token)));
    expect(JSON.parse(chat)).toMatchObject({
      choices: [
        { logprobs: { content: [{ token: ' a"b', bytes: [32, 97, 34, 98], top_logprobs: [{ token: ' a"b' }, {}] }] } },
      ],
    });
    const whole = JSON.stringify(completionShape.whole(head, [DONE], USAGE));
    expect(JSON.parse(whole)).toMatchObject({
      choices: [{ logprobs: { tokens: ["one", " two"], text_offset: [0, 3] } }],
    });
  });

  it("call a function with arguments that are JSON once put together", () => {
    const head = { ...HEAD, tool: "weather" };
    const text = [
      chatShape.opening(head, 0),
      ...DONE.tokens.map(chatShape.tokenWriter(head, 0)),
      chatShape.ending(head, 0, DONE),
    ].join("");
    const choices = eventsOf(text).map(
      (event) =>
        (
          event as {
            choices: [
              {
                delta: { tool_calls?: [{ function: { name?: string; arguments: string } }] };
                finish_reason: string | null;
              },
            ];
          }
        ).choices[0],
    );
    const calls = choices.flatMap(({ delta }) => delta.tool_calls ?? []);
    expect(calls[0]?.function.name).toBe("weather");
    expect(JSON.parse(calls.map((call) => call.function.arguments).join(""))).toEqual({ text: "one two" });
    expect(choices.at(-1)?.finish_reason).toBe("tool_calls");
  });

  it("of the responses and messages endpoints come in the order their clients wait for", () => {
    const stream = (shape: typeof responsesShape) =>
      shape.preamble(HEAD) +
      shape.opening(HEAD, 0) +
      shape.tokenWriter(HEAD, 0)(token) +
      shape.ending(HEAD, 0, DONE) +
      shape.closing(HEAD, [DONE], { asked: false, counts: USAGE });
    expect(namesOf(stream(responsesShape))).toEqual([
      ...["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"],
      ...["response.output_text.delta", "response.output_text.done", "response.content_part.done"],
      ...["response.output_item.done", "response.completed"],
    ]);
    expect(namesOf(stream(messagesShape))).toEqual([
      ...["message_start", "content_block_start", "content_block_delta", "content_block_stop"],
      ...["message_delta", "message_stop"],
    ]);
  });
});
