import { expect, test } from "vitest";
import { duration, httpUrl, labels, listenAddress, portRange } from "./setting-schemas.ts";

test.each([
  [listenAddress, "127.0.0.1:8080", { host: "127.0.0.1", port: 8080 }],
  [listenAddress, "localhost:0", { host: "localhost", port: 0 }],
  [listenAddress, "[::1]:65535", { host: "::1", port: 65535 }],
  [duration, "24h", 86_400_000],
  [duration, 250, 250],
  [portRange, "18000-18999", { first: 18000, last: 18999 }],
  [labels, "", {}],
  [labels, "gpu=h100, rack=a,empty=", { gpu: "h100", rack: "a", empty: "" }],
  [httpUrl, "http://127.0.0.1:7070/", "http://127.0.0.1:7070"],
  [httpUrl, "https://admin.example/llmgw", "https://admin.example/llmgw"],
])("a good value is understood (%#)", (schema, text, value) => {
  expect(schema.parse(text)).toEqual(value);
});

test.each([
  [listenAddress, ["8080", ":8080", "::1:8080", "[host]:80", "a:65536", "a:", "http://a:80", "a b:80"]],
  [duration, ["", "soon", -1, 1.5, null]],
  [portRange, ["18000", "0-10", "20-10", "1-65536", "a-b"]],
  [labels, ["a", "a=1,a=2", "=1", "a=1,", "a b=1"]],
  [httpUrl, ["", "127.0.0.1:7070", "ftp://a", "http://", "http://u:p@a", "http://a?b=1", "http://a#b"]],
])("a bad value is refused with what was expected (%#)", (schema, values) => {
  for (const value of values) {
    const result = schema.safeParse(value);
    expect(result.success, JSON.stringify(value)).toBe(false);
    expect(result.error?.issues[0]?.message).toMatch(/^expected /);
  }
});
