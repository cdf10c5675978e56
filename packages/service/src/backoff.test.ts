import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

test("the wait doubles up to its maximum and is spread over its upper half", () => {
  const wait = (attempt: number, random: number) =>
    backoffMs({ attempt, baseMs: 500, maxMs: 5_000, random: () => random });
  expect([0, 1, 2, 3, 4, 2_000].map((attempt) => wait(attempt, 1))).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect([wait(1, 0), wait(1, 0.5)]).toEqual([500, 750]);
});
