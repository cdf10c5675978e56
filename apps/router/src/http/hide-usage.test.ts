import { expect, test } from "vitest";
import { withoutUsageEvents } from "./hide-usage.ts";

const hidden = (text: string) => {
  const rest = withoutUsageEvents(Buffer.from(text));
  return rest === null ? null : Buffer.from(rest).toString();
};
const usage = '{"id":"x","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}';

test.each(["\n\n", "\r\n\r\n", "\r\r"])("the event that only tells the usage is left out, others stay (%j)", (end) => {
  const said = `data: {"choices":[{"delta":{"content":"\\"usage\\" 北"}}],"usage":null}${end}`;
  expect(hidden(`${said}: ping${end}data: ${usage}${end}data: [DONE]${end}`)).toBe(
    `${said}: ping${end}data: [DONE]${end}`,
  );
  expect(hidden(`data: ${usage}${end}`)).toBeNull();
});

test("an event with content and usage, or that is no JSON, is the client's", () => {
  for (const data of ['{"choices":[{"index":0}],"usage":{"a":1}}', '{"choices":[],"usage":null}', '{"usage"']) {
    expect(hidden(`data: ${data}\n\n`)).toBe(`data: ${data}\n\n`);
  }
});
