import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textOf, utf8 } from "../testing/utf8.ts";
import { EventStream } from "./event-stream.ts";

const content = (text: string, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text }, finish_reason: finish }] })}\n\n`;

function feed(text: string, cuts: readonly number[] = [], stream = new EventStream()) {
  const bytes = utf8(text);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let out = "";
  const raw: number[] = [];
  for (let index = 1; index < places.length; index += 1) {
    const whole = stream.push(bytes.subarray(places[index - 1], places[index]));
    if (whole !== null) raw.push(...whole);
  }
  out = textOf(Uint8Array.from(raw));
  return { stream, out };
}

describe("an event stream", () => {
  test("passes through byte for byte and is understood the same, wherever it was cut", () => {
    const line = fc.oneof(
      fc.constantFrom(
        ": ping",
        "",
        "data: [DONE]",
        "data:",
        "event: x",
        ':x\r\ndata: {"a":1}',
        'data:{"error":{"code":500}}',
      ),
      fc.string().map((text) => content(text).trimEnd()),
    );
    const ending = fc.constantFrom("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\r\r");
    const text = fc.array(fc.tuple(line, ending)).map((parts) => parts.flat().join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 30 }), (whole, cuts) => {
        const atOnce = feed(whole);
        const cut = feed(whole, cuts);
        const lineCount = (stream: EventStream) => [stream.facts, stream.isAtEventStart];
        expect(cut.out).toBe(whole);
        expect(lineCount(cut.stream)).toEqual(lineCount(atOnce.stream));
      }),
    );
  });

  test("lets only whole lines through and gives the rest at its end", () => {
    const stream = new EventStream();
    expect(feed(`${content("a")}data: {"cho`, [], stream).out).toBe(content("a"));
    expect(stream.isAtEventStart).toBe(true);
    expect(textOf(stream.flush() ?? new Uint8Array())).toBe('data: {"cho');
  });

  test("knows when something may be said without breaking into an event", () => {
    const stream = new EventStream();
    expect(stream.isAtEventStart).toBe(true);
    feed("event: x\n", [], stream);
    expect(stream.isAtEventStart).toBe(false);
    feed("\n", [], stream);
    expect(stream.isAtEventStart).toBe(true);
  });

  test("counts content events, not comments, and not its end", () => {
    const { stream } = feed(`:\n\n: ping\n\n${content("a")}data:{"b":1}\r\n\r\ndata: [DONE]\n\n`);
    expect(stream.facts).toEqual({ contentEvents: 2, isComplete: true, errorEvent: null });
  });

  test("is complete with a finish reason, but not with text that talks of one", () => {
    expect(feed(content("a", "stop")).stream.facts.isComplete).toBe(true);
    expect(feed('data: {"finish_reason": "length"}\n').stream.facts.isComplete).toBe(true);
    expect(feed(content('"finish_reason":"stop"')).stream.facts.isComplete).toBe(false);
    expect(feed(content("a")).stream.facts.isComplete).toBe(false);
  });

  test("keeps an engine's own error event", () => {
    const { stream } = feed('data: {"error":{"code":500}}\n\n');
    expect(textOf(stream.facts.errorEvent ?? new Uint8Array())).toBe('{"error":{"code":500}}');
    expect(stream.facts.contentEvents).toBe(0);
  });

  test("passes an event on in pieces once it is too long to hold", () => {
    const stream = new EventStream(10);
    expect(feed("data: 12345", [], stream).out).toBe("data: 12345");
    expect(stream.isAtEventStart).toBe(false);
    expect(feed("678", [], stream).out).toBe("");
    expect(feed("9\n\n", [], stream).out).toBe("6789\n\n");
    expect(stream.isAtEventStart).toBe(true);
    expect(stream.facts.contentEvents).toBe(1);
  });
});
