import { expect, test } from "vitest";
import { RateWindow } from "./rate-window.ts";
import { retryAfterSeconds, waitSeconds } from "./retry-after.ts";
import { RetryBudget } from "./retry-budget.ts";

test("retries are a fifth of the requests of the last 10 s, and ten in any case", () => {
  const budget = new RetryBudget();
  const takeAll = (nowMs: number) => {
    let taken = 0;
    while (budget.tryTake(nowMs, 0.2)) taken += 1;
    return taken;
  };
  expect(takeAll(0)).toBe(10);
  for (let count = 0; count < 100; count += 1) budget.recordRequest(1_000);
  expect(takeAll(1_000)).toBe(10);
  expect(takeAll(20_000)).toBe(10);
});

test("Retry-After is the time the needed places take at the observed rate, 1 to 60 s, and 5 while no rate is known", () => {
  expect([retryAfterSeconds(3, 2), retryAfterSeconds(1, 100), retryAfterSeconds(1_000, 1)]).toEqual([2, 1, 60]);
  expect(retryAfterSeconds(3, null)).toBe(5);
  expect([waitSeconds(0), waitSeconds(4_200), waitSeconds(1e9)]).toEqual([1, 5, 60]);
});

test("a rate is taken over the window, or over the time since the first event while that is shorter", () => {
  const window = new RateWindow(30_000);
  expect(window.perSecond(0)).toBeNull();
  for (const atMs of [0, 500, 1_000, 1_500]) window.add(atMs);
  expect(window.perSecond(1_900)).toBe(2);
  expect(window.perSecond(29_999)).toBeCloseTo(4 / 30);
  expect(window.perSecond(40_000)).toBeNull();
});
