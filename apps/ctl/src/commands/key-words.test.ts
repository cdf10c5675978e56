import { expect, test } from "vitest";
import { limitOf, limitWords } from "./key-words.ts";
import { usageTotals } from "./usage-totals.ts";

test("limits of a key are said in words, and read back", () => {
  const limits = { requestsPerMinute: 600, tokensPerMinute: null, concurrent: 8 };
  expect(limitWords(limits)).toBe("600/min, 8 at a time");
  expect(limitWords({ requestsPerMinute: null, tokensPerMinute: null, concurrent: null })).toBe("none");
  expect([limitOf("--concurrent", "8"), limitOf("--concurrent", "none")]).toEqual([8, null]);
  for (const text of ["0", "-1", "1.5", "many", ""]) {
    expect(() => limitOf("--concurrent", text)).toThrow(`--concurrent is "${text}": expected a whole number`);
  }
});

test("usage of several hours is summed by key and model", () => {
  const row = {
    ...{ hour: "2026-03-01T10:00:00.000Z", keyId: "k1", keyName: "alice", model: "m1" },
    ...{ requests: 2, estimatedRequests: 1, promptTokens: 10, completionTokens: 5, cachedTokens: 3 },
  };
  const totals = usageTotals([row, { ...row, model: "m2", completionTokens: 50 }, { ...row, hour: "later" }]);
  expect(totals.map(({ model, requests, completionTokens }) => [model, requests, completionTokens])).toEqual([
    ["m2", 2, 50],
    ["m1", 4, 10],
  ]);
});
