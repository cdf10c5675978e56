import { describe, expect, it } from "vitest";
import { chatShape, completionShape, SSE_DONE } from "./answer-shape.ts";

const HEAD = { id: "chatcmpl-1", created: 1, model: 'odd "@token@" name' };
const USAGE = { prompt_tokens: 2, total_tokens: 5, completion_tokens: 3, prompt_tokens_details: null };

function eventOf(text: string): unknown {
  expect(text.startsWith("data: ")).toBe(true);
  expect(text.endsWith("\n\n")).toBe(true);
  expect(text.slice(0, -2)).not.toContain("\n");
  return JSON.parse(text.slice("data: ".length));
}

describe("server-sent events", () => {
  it("open a chat answer with the role, carry one token each, and close with the reason", () => {
    const [before, after] = chatShape.tokenFrame(HEAD, 1);
    const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: HEAD.model };
    expect(eventOf(chatShape.opening(HEAD, 1) ?? "")).toMatchObject({
      ...chunk,
      choices: [{ index: 1, delta: { role: "assistant", content: "" }, finish_reason: null }],
    });
    expect(eventOf(before + JSON.stringify(' a"b') + after)).toMatchObject({
      ...chunk,
      choices: [{ index: 1, delta: { content: ' a"b' }, logprobs: null, finish_reason: null }],
    });
    expect(eventOf(chatShape.ending(HEAD, 1, "length"))).toMatchObject({
      choices: [{ index: 1, delta: { content: "" }, finish_reason: "length", stop_reason: null }],
    });
    expect(eventOf(chatShape.usage(HEAD, USAGE))).toEqual({ ...chunk, choices: [], usage: USAGE });
    expect(SSE_DONE).toBe("data: [DONE]\n\n");
  });

  it("have no opening for a text completion", () => {
    const [before, after] = completionShape.tokenFrame(HEAD, 0);
    expect(completionShape.opening(HEAD, 0)).toBeUndefined();
    expect(eventOf(`${before}"x"${after}`)).toMatchObject({
      object: "text_completion",
      choices: [{ index: 0, text: "x", finish_reason: null }],
    });
  });
});
