import { describe, expect, test } from "vitest";
import { AnswerTail, usageOfEvents } from "./answer-usage.ts";

const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

function usageOfAnswer(text: string, pieceBytes: number) {
  const tail = new AnswerTail();
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += pieceBytes) tail.push(all.subarray(at, at + pieceBytes));
  return tail.usage();
}

describe("the usage of an answer", () => {
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 4 },
  };

  test("is read from its end, however it was cut and however long it is", () => {
    const talk = 'say \\"usage\\":{\\"prompt_tokens\\":1} '.repeat(2_000);
    const text = `{"choices":[{"message":{"content":"${talk}"}}],"usage": ${JSON.stringify(usage)},"x":{"}":"{"}}`;
    for (const pieceBytes of [1, 100, 1_000_000]) {
      expect(usageOfAnswer(text, pieceBytes)).toEqual({ promptTokens: 9, completionTokens: 5, cachedTokens: 4 });
    }
  });

  test("is none where the engine tells none", () => {
    expect(usageOfAnswer('{"data":[]}', 10)).toBeNull();
    expect(usageOfAnswer('{"usage":null}', 10)).toBeNull();
    expect(usageOfAnswer('{"usage":{"prompt_tokens":"x"}}', 100)).toBeNull();
    expect(usageOfAnswer("", 10)).toBeNull();
  });
});

describe("the usage of a stream", () => {
  test("is its last word, in each dialect", () => {
    expect(usageOfEvents([bytes({ usage: { prompt_tokens: 1, completion_tokens: 2 } })])).toMatchObject({
      promptTokens: 1,
      completionTokens: 2,
    });
    const started = { type: "message_start", message: { usage: { input_tokens: 3, cache_read_input_tokens: 2 } } };
    const ended = { type: "message_delta", usage: { output_tokens: 7 } };
    expect(usageOfEvents([bytes(started), bytes(ended)])).toEqual({
      promptTokens: 3,
      completionTokens: 7,
      cachedTokens: 2,
    });
    const completed = { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 4 } } };
    expect(usageOfEvents([bytes(completed)])).toMatchObject({ promptTokens: 1, completionTokens: 4 });
    expect(usageOfEvents([bytes("not json")])).toBeNull();
  });
});
