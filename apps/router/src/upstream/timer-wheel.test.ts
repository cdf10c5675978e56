import fc from "fast-check";
import { expect, test } from "vitest";
import { TimerWheel } from "./timer-wheel.ts";

function wheelAt(nowMs: number, tickMs = 10) {
  return new TimerWheel({ nowMs: () => 0, monotonicMs: () => nowMs, sleep: () => Promise.resolve() }, tickMs);
}

test("a deadline comes due never early and at most a tick late, however far away it is", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ atMs: fc.integer({ min: 0, max: 60_000 }), cancel: fc.boolean() }), { maxLength: 40 }),
      fc.integer({ min: 1, max: 40 }),
      (deadlines, tickMs) => {
        const wheel = wheelAt(0, tickMs);
        const fired: number[] = [];
        deadlines.forEach(({ atMs, cancel }, index) => {
          const timer = wheel.add(
            {
              onDeadline: (nowMs) => {
                expect(nowMs).toBeGreaterThanOrEqual(atMs);
                expect(nowMs).toBeLessThanOrEqual(atMs + 2 * tickMs);
                fired.push(index);
                return null;
              },
            },
            atMs,
          );
          if (cancel) timer.cancel();
        });
        for (let nowMs = 0; nowMs <= 60_000 + 3 * tickMs; nowMs += tickMs) wheel.advance(nowMs);
        const expected = deadlines.flatMap(({ cancel }, index) => (cancel ? [] : [index]));
        expect(fired.sort((a, b) => a - b)).toEqual(expected);
      },
    ),
    { numRuns: 30 },
  );
});

test("a deadline can be brought forward, and moves on to what its owner answers", () => {
  const wheel = wheelAt(0);
  const fired: number[] = [];
  const timer = wheel.add(
    {
      onDeadline: (nowMs) => {
        fired.push(nowMs);
        return fired.length === 1 ? nowMs + 100 : null;
      },
    },
    50_000,
  );
  timer.noLaterThan(40);
  timer.noLaterThan(45_000);
  for (let nowMs = 0; nowMs <= 400; nowMs += 10) wheel.advance(nowMs);
  expect(fired).toEqual([50, 160]);
});

test("after a long pause of the process every deadline that has passed comes due", () => {
  const wheel = wheelAt(0);
  let fired = 0;
  for (const atMs of [5, 3_000, 90_000]) {
    wheel.add(
      {
        onDeadline: () => {
          fired += 1;
          return null;
        },
      },
      atMs,
    );
  }
  wheel.advance(100_000);
  expect(fired).toBe(3);
});
