import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

test.each([
  ["0", 0],
  ["1500", 1_500],
  ["500ms", 500],
  ["30s", 30_000],
  ["15m", 900_000],
  ["1h30m", 5_400_000],
  ["1m500ms", 60_500],
  ["90d", 7_776_000_000],
])("%s is read as %d ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["", " ", "s", "-5s", "1.5s", "30 s", "30sec", "5s1m", "1h1h", "99999999999999999999", "1e3"])(
  "%j is no duration",
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test("what is written is read back the same", () => {
  for (const ms of [0, 1, 999, 1_500, 60_500, 3_661_001, 86_400_000, 7_776_000_001]) {
    expect(parseDuration(formatDuration(ms))).toBe(ms);
  }
  expect(formatDuration(5_400_000)).toBe("1h30m");
});
