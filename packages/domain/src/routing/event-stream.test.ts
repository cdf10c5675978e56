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
        const rest = (stream: EventStream) => textOf(stream.flush() ?? new Uint8Array());
        expect(atOnce.out + rest(atOnce.stream)).toBe(whole);
        expect(cut.out + rest(cut.stream)).toBe(whole);
        expect(cut.stream.facts).toEqual(atOnce.stream.facts);
      }),
    );
  });

  test("lets only whole events through and gives the rest at its end", () => {
    const stream = new EventStream();
    expect(feed(`${content("a")}data: {"cho`, [], stream).out).toBe(content("a"));
    expect(textOf(stream.flush() ?? new Uint8Array())).toBe('data: {"cho');
    const named = new EventStream();
    expect(feed(`${content("a")}event: x\ndata: {}\n`, [], named).out).toBe(content("a"));
    expect(feed("\n", [], named).out).toBe("event: x\ndata: {}\n\n");
  });

  test("lets a comment between two events through at once", () => {
    const stream = new EventStream();
    expect(feed(": ping\n", [], stream).out).toBe(": ping\n");
    expect(feed("data: 1\n: ping\n", [], stream).out).toBe("");
    expect(feed("\n", [], stream).out).toBe("data: 1\n: ping\n\n");
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
    for (const text of [
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
      'data: {"type":"error","error":{"type":"overloaded_error"}}\n\n',
      'event: response.failed\ndata: {"response":{"status":"failed"},"type":"response.failed"}\n\n',
    ]) {
      expect(feed(text).stream.facts).toMatchObject({ contentEvents: 0, isComplete: false });
      expect(feed(text).stream.facts.errorEvent).not.toBeNull();
    }
  });

  test("is complete with the last event of its dialect; pings and announcements are no content", () => {
    const anthropic =
      'event: message_start\ndata: {"type":"message_start"}\n\nevent: ping\ndata: {"type":"ping"}\n\ndata: {"type": "ping"}\n\n';
    expect(feed(anthropic).stream.facts).toMatchObject({ contentEvents: 0, isComplete: false });
    const rest =
      'event: content_block_delta\ndata: {"type":"content_block_delta"}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';
    expect(feed(anthropic + rest).stream.facts).toMatchObject({ isComplete: true });
    const responses = 'event: response.created\ndata: {"response":{},"type":"response.created"}\n\n';
    expect(feed(responses).stream.facts).toMatchObject({ contentEvents: 0, isComplete: false });
    const completed = 'event: response.completed\ndata: {"response":{},"type":"response.completed"}\n\n';
    expect(feed(responses + completed).stream.facts.isComplete).toBe(true);
  });

  test("keeps the events that tell of tokens used, and none that merely talk of them", () => {
    const usage = (text: string) => feed(text).stream.usageEvents.map(textOf);
    const first = '{"type":"message_start","message":{"usage":{"input_tokens":3}}}';
    const last = '{"type":"message_delta","usage":{"output_tokens":5}}';
    expect(usage(`data: ${first}\n\n${content("a")}data: {"usage":{"output_tokens":4}}\n\ndata: ${last}\n\n`)).toEqual([
      first,
      last,
    ]);
    expect(usage(content('"prompt_tokens":5'))).toEqual([]);
  });

  test("passes an event on in pieces once it is too long to hold", () => {
    const stream = new EventStream(10);
    expect(feed("data: 12345", [], stream).out).toBe("data: 12345");
    expect(stream.isBetweenEvents).toBe(false);
    expect(feed("678", [], stream).out).toBe("");
    expect(feed("9\n\n", [], stream).out).toBe("6789\n\n");
    expect(stream.isBetweenEvents).toBe(true);
    expect(stream.facts.contentEvents).toBe(1);
  });
});
