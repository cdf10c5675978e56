import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textOf, utf8 } from "../testing/utf8.ts";
import { withUsageAsked } from "./usage-injection.ts";

const asked = (text: string) => {
  const bytes = withUsageAsked(utf8(text));
  return bytes === null ? null : textOf(bytes);
};

describe("asking for usage", () => {
  test.each([
    ['{"model":"m"}', '{"stream_options":{"include_usage":true},"model":"m"}'],
    ['{"model":"m","stream_options":null}', '{"model":"m","stream_options":{"include_usage":true}}'],
    ['{"stream_options" : { } ,"a":[1,{"b":"}"}]}', '{"stream_options" : {"include_usage":true } ,"a":[1,{"b":"}"}]}'],
    ['{"stream_options":{"include_usage":false}}', '{"stream_options":{"include_usage":true}}'],
    ['{"stream_options":{"x":1}}', '{"stream_options":{"include_usage":true,"x":1}}'],
  ])("changes %s by these bytes alone", (body, expected) => {
    expect(asked(body)).toBe(expected);
  });

  test("changes nothing where the client asks itself, or wrote what the engine has to judge", () => {
    expect(asked('{"stream_options":{"include_usage":true}}')).toBeNull();
    expect(asked('{"stream_options":"yes"}')).toBeNull();
    expect(asked('{"stream_options":{"include_usage":"maybe"}}')).toBeNull();
  });

  test("adds that one wish to any JSON object, and nothing else", () => {
    const value = fc.jsonValue({ noUnicodeString: false }).filter((given) => !JSON.stringify(given).includes("\\ud"));
    const rest = fc.dictionary(fc.string(), value, { noNullPrototype: true });
    fc.assert(
      fc.property(rest, fc.constantFrom(undefined, 2), (given, space) => {
        fc.pre(!["stream_options", "__proto__"].some((name) => Object.hasOwn(given, name)));
        const body = { model: "m", ...given };
        const text = asked(JSON.stringify(body, null, space));
        expect(text === null ? null : JSON.parse(text)).toEqual({ ...body, stream_options: { include_usage: true } });
      }),
    );
  });
});
