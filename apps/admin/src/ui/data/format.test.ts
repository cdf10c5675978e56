import { describe, expect, test } from "vitest";
import { countdown, dayAndClock, duration, parseDuration } from "./format.ts";

describe("durations as an operator types and reads them", () => {
  test.each([
    ["1h30m", 5_400_000],
    ["10m", 600_000],
    ["45 s", 45_000],
    ["1 h 5 min", 3_900_000],
    ["0s", 0],
    ["2d", 172_800_000],
  ])("%s is understood", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(["", "90", "soon", "1h30", "-5m", "1y"])("%j is refused instead of guessed", (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  test.each([
    [850, "850 ms"],
    [3_450, "3.4 s"],
    [59_999, "59 s"],
    [778_000, "12 min 58 s"],
    [3_600_000, "1 h"],
    [1_036_800_000, "12 d"],
  ])("%i ms reads as %s", (ms, words) => {
    expect(duration(ms)).toBe(words);
  });

  test("a countdown never goes below zero and never shows zero before it is over", () => {
    expect([2_822_000, 3_900_000, 1, 0, -5].map(countdown)).toEqual(["47:02", "1:05:00", "0:01", "0:00", "0:00"]);
  });

  test("the date is left out only for today in UTC", () => {
    const now = Date.parse("2026-11-30T00:10:00Z");
    expect(dayAndClock("2026-11-30T00:01:02.000Z", now)).toBe("00:01:02");
    expect(dayAndClock("2026-11-29T23:59:59.000Z", now)).toBe("11-29 23:59:59");
  });
});
