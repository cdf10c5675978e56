import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Breaker, type BreakerPermit, type BreakerVerdict, defaultBreakerSettings } from "./breaker.ts";

const failure: BreakerVerdict = { kind: "failure", evidence: null };
const success: BreakerVerdict = { kind: "success" };
const neutral: BreakerVerdict = { kind: "neutral" };
const PROBE_TTL_MS = 60_000;

function settle(breaker: Breaker, verdict: BreakerVerdict, nowMs: number): void {
  const permit = breaker.acquire(nowMs, PROBE_TTL_MS);
  expect(permit).not.toBeNull();
  permit?.settle(verdict, nowMs);
}

function opened(atMs = 0): Breaker {
  const breaker = new Breaker(defaultBreakerSettings);
  for (let count = 0; count < 5; count += 1) settle(breaker, failure, atMs);
  expect(breaker.state(atMs)).toBe("open");
  return breaker;
}

describe("a closed breaker", () => {
  test("opens at the fifth failure in a row, and a success in between starts the run anew", () => {
    const breaker = new Breaker(defaultBreakerSettings);
    for (const verdict of [failure, failure, failure, failure, success, failure, failure, failure, failure]) {
      settle(breaker, verdict, 0);
    }
    expect(breaker.state(0)).toBe("closed");
    settle(breaker, failure, 0);
    expect(breaker.state(0)).toBe("open");
    expect(breaker.admits(0)).toBe(false);
  });

  test("neither counts nor forgives for what is neutral", () => {
    const breaker = new Breaker(defaultBreakerSettings);
    for (let count = 0; count < 50; count += 1) settle(breaker, neutral, 0);
    for (const verdict of [failure, neutral, failure, neutral, failure, failure]) settle(breaker, verdict, 0);
    expect(breaker.state(0)).toBe("closed");
    settle(breaker, failure, 0);
    expect(breaker.state(0)).toBe("open");
  });

  test("is not opened by the same request again and again, but by two different ones", () => {
    const breaker = new Breaker(defaultBreakerSettings);
    for (let count = 0; count < 30; count += 1) settle(breaker, { kind: "failure", evidence: "a" }, 0);
    expect(breaker.state(0)).toBe("closed");
    settle(breaker, { kind: "failure", evidence: "b" }, 0);
    expect(breaker.state(0)).toBe("open");
  });

  test("opens when half of at least 20 requests in the window failed", () => {
    const breaker = new Breaker(defaultBreakerSettings);
    for (let count = 0; count < 10; count += 1) {
      settle(breaker, success, 0);
      if (count < 9) settle(breaker, failure, 0);
    }
    expect(breaker.state(0)).toBe("closed");
    settle(breaker, failure, 0);
    expect(breaker.state(0)).toBe("open");
  });
});

describe("an open breaker", () => {
  test("rests 5 s, then 10, then 15, and stragglers that fail meanwhile do not lengthen it", () => {
    const breaker = new Breaker(defaultBreakerSettings);
    const straggler = breaker.acquire(0, PROBE_TTL_MS);
    for (let count = 0; count < 5; count += 1) settle(breaker, failure, 0);
    straggler?.settle(failure, 4_000);
    let nowMs = 0;
    for (const restMs of [5_000, 10_000, 15_000]) {
      expect(breaker.admits(nowMs + restMs - 1)).toBe(false);
      expect(breaker.waitMs(nowMs + restMs - 1)).toBe(1);
      nowMs += restMs;
      expect(breaker.state(nowMs)).toBe("half_open");
      settle(breaker, failure, nowMs);
    }
  });

  test("closes after two good probes and then starts with a clean sheet", () => {
    const breaker = opened();
    settle(breaker, success, 5_000);
    expect(breaker.state(5_000)).toBe("half_open");
    settle(breaker, success, 5_001);
    expect(breaker.state(5_001)).toBe("closed");
    for (let count = 0; count < 5; count += 1) settle(breaker, failure, 6_000);
    expect(breaker.waitMs(6_000)).toBe(5_000);
  });

  test("gives a probe's permit back when the probe says nothing, and takes it back when it never returns", () => {
    const breaker = opened();
    const aborted = breaker.acquire(5_000, 1_000);
    expect(breaker.admits(5_000)).toBe(false);
    aborted?.settle(neutral, 5_010);
    expect(breaker.admits(5_010)).toBe(true);
    const hanging = breaker.acquire(5_010, 1_000);
    expect(breaker.admits(6_009)).toBe(false);
    expect(breaker.admits(6_010)).toBe(true);
    const next = breaker.acquire(6_010, 1_000);
    hanging?.settle(failure, 6_020); // of a probe that had lapsed: not heard
    expect(breaker.state(6_020)).toBe("half_open");
    expect(breaker.admits(6_020)).toBe(false);
    next?.settle(success, 6_030);
    expect(breaker.admits(6_030)).toBe(true);
  });
});

test("in half-open at most one probe is out at any time, whatever happens in whatever order", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("acquire" as const) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
    fc.record({
      kind: fc.constant("settle" as const),
      which: fc.nat(30),
      verdict: fc.constantFrom(failure, failure, failure, success, neutral),
    }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const breaker = new Breaker(defaultBreakerSettings);
      const permits: BreakerPermit[] = [];
      let probe: { permit: BreakerPermit; untilMs: number } | null = null;
      let nowMs = 0;
      for (const action of steps) {
        if (action.kind === "wait") nowMs += action.ms;
        else if (action.kind === "settle") {
          const permit = permits[action.which];
          if (permit !== undefined && permit === probe?.permit) probe = null;
          permit?.settle(action.verdict, nowMs);
        } else {
          const wasHalfOpen = breaker.state(nowMs) === "half_open";
          const admitted = breaker.admits(nowMs);
          const permit = breaker.acquire(nowMs, PROBE_TTL_MS);
          expect(permit !== null).toBe(admitted);
          if (permit === null) continue;
          if (wasHalfOpen) {
            expect(probe === null || nowMs >= probe.untilMs).toBe(true);
            probe = { permit, untilMs: nowMs + PROBE_TTL_MS };
          }
          permits.push(permit);
        }
        if (breaker.state(nowMs) !== "half_open") probe = null;
      }
      // Whatever state it is in, it admits again in the end.
      expect(breaker.admits(nowMs + defaultBreakerSettings.cooldownMaxMs + PROBE_TTL_MS)).toBe(true);
    }),
  );
});
