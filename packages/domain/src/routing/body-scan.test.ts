import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textOf, utf8 } from "../testing/utf8.ts";
import { BodyScan, type BodyScanResult } from "./body-scan.ts";

function scan(text: string, stepBytes = 1_000_000): BodyScanResult {
  const body = new BodyScan(utf8(text));
  for (;;) {
    const result = body.step(stepBytes);
    if (result !== null) return result;
  }
}

function modelOf(text: string, stepBytes?: number): unknown {
  const result = scan(text, stepBytes);
  if (result.kind === "invalid") return null;
  const { start, end } = result.model;
  return JSON.parse(textOf(utf8(text).subarray(start, end)));
}

describe("the body scan", () => {
  test("finds model and stream in any JSON object, whatever stands around them and however small its steps are", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 6 }),
        fc.string({ minLength: 1 }),
        fc.record({
          stream: fc.constantFrom(true, false, null, undefined),
          indent: fc.nat(3),
          step: fc.integer({ min: 1, max: 40 }),
        }),
        (rest, model, { stream, indent, step }) => {
          const { model: _model, stream: _stream, ...others } = rest;
          const text = JSON.stringify(
            { ...others, model, x: { model: 1, stream: "x" }, ...(stream === undefined ? {} : { stream }) },
            null,
            indent,
          );
          const result = scan(text, step);
          expect(result).toMatchObject({ kind: "ok", stream: stream === true });
          expect(modelOf(text, step)).toBe(model);
        },
      ),
    );
  });

  test("agrees with JSON.parse on what is JSON, for texts that are one byte away from it", () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.nat(),
        fc.record({ byte: fc.constantFrom(...'{}[]",:\\0-+eE.tfn \u0001x'), replace: fc.boolean() }),
        (value, at, { byte, replace }) => {
          const good = JSON.stringify({ a: value, model: "m", n: [1.5e3, true, null, "\u00e9\n"] });
          const place = at % good.length;
          const text = good.slice(0, place) + byte + good.slice(replace ? place + 1 : place);
          let isJson = true;
          try {
            JSON.parse(text);
          } catch {
            isJson = false;
          }
          const result = scan(text, 7);
          if (!isJson) expect(result.kind).toBe("invalid");
          else if (result.kind === "invalid") expect(result.message).not.toContain("not valid JSON");
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['{"model":"m","model":"m"}', "model"],
    ['{"model":"m","mod\\u0065l":"m"}', "model"],
    ['{"model":"m","stream":true,"stream":true}', "stream"],
    ['{"model":"m","stream":"true"}', "stream"],
    ['{"model":"m","stream":1}', "stream"],
    ['{"model":["m"]}', "model"],
    ['{"model":""}', "model"],
    ["{}", "model"],
    ["[]", null],
    ["", null],
    ['{"model":"m"}}', null],
    ['{"model":"m"', null],
    ['{"model":"m","x":01}', null],
    ['{"model":"m","x":"\\x"}', null],
    ['{"model":"m","x":"\\u12g4"}', null],
    ['{"model":"m","x":"a\nb"}', null],
    ['{"model":"m",}', null],
  ])("refuses %s and names the field", (text, param) => {
    for (const step of [1, 1_000]) expect(scan(text, step)).toMatchObject({ kind: "invalid", param });
  });

  test("notes where the prompt and what names the session stand", () => {
    const found = (text: string, step: number) => {
      const result = scan(text, step);
      if (result.kind === "invalid") return null;
      return [result.prompt, result.session].map((span) =>
        span === null ? null : textOf(utf8(text).subarray(span.start, span.end)),
      );
    };
    for (const step of [1, 1_000]) {
      const chat = '{"user":"u1","messages":[{"user":"x","input":[]}] ,"model":"m","prompt_cache_key":"k"}';
      expect(found(chat, step)).toEqual(['[{"user":"x","input":[]}]', '"k"']);
      expect(found('{"model":"m","prompt":"a\\"b","user":"u1"}', step)).toEqual(['"a\\"b"', '"u1"']);
      expect(found('{"model":"m","n":1}', step)).toEqual([null, null]);
    }
  });

  test("keeps big numbers out of its way and deep nesting out of an engine's", () => {
    expect(scan('{"model":"m","seed":12345678901234567890,"x":1e400,"y":-0.0E+1}').kind).toBe("ok");
    expect(scan(`{"model":"m","x":${"[".repeat(500)}${"]".repeat(500)}}`).kind).toBe("ok");
    expect(scan(`{"model":"m","x":${"[".repeat(200_000)}`)).toMatchObject({ kind: "invalid" });
  });
});
