import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultBreakerSettings } from "./breaker.ts";
import { type ChoiceInput, chooseEndpoint } from "./choose.ts";
import { type Dispatch, type EndpointState, type Readiness, RoutedEndpoint } from "./routed-endpoint.ts";
import { defaultSaturationLimits } from "./saturation.ts";

const settings = { breaker: defaultBreakerSettings, saturation: defaultSaturationLimits, staleAfterMs: 5_000 };

function endpoint(
  options: { maxInflight?: number; state?: EndpointState; readiness?: Readiness } = {},
): RoutedEndpoint {
  const { maxInflight = 256, state = "serving", readiness = "ready" } = options;
  const made = new RoutedEndpoint({ state, maxInflight, maxConcurrent: null, hasMetrics: true }, settings);
  made.readiness = readiness;
  return made;
}

/** Numbers in [0, 1) that are the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

function input(
  serving: readonly RoutedEndpoint[],
  change: Partial<ChoiceInput<RoutedEndpoint>> = {},
): ChoiceInput<RoutedEndpoint> {
  return {
    groups: { serving, moving: [] },
    policy: "least-load",
    tried: [],
    nowMs: 0,
    random: seeded(1),
    turn: 0,
    ...change,
  };
}

function fill(target: RoutedEndpoint, count: number): Dispatch[] {
  return Array.from({ length: count }, () => {
    const dispatch = target.begin(0, 60_000);
    if (dispatch === null) throw new Error("not admitted");
    return dispatch;
  });
}

function chosen(given: ChoiceInput<RoutedEndpoint>): RoutedEndpoint | string {
  const choice = chooseEndpoint(given);
  return choice.kind === "endpoint" ? choice.endpoint : choice.kind;
}

describe("choosing an endpoint", () => {
  test("takes a moving one only when no serving one is below its limit", () => {
    const serving = endpoint({ maxInflight: 1 });
    const moving = endpoint({ state: "moving" });
    const groups = { serving: [serving], moving: [moving] };
    expect(chosen(input([], { groups }))).toBe(serving);
    fill(serving, 1);
    expect(chosen(input([], { groups }))).toBe(moving);
  });

  test("says saturated while there is one to wait for, and none while there is not", () => {
    const full = endpoint({ maxInflight: 1 });
    fill(full, 1);
    expect(chosen(input([full]))).toBe("saturated");
    expect(chosen(input([full], { tried: [full] }))).toBe("none");
    expect(chosen(input([]))).toBe("none");
    expect(chosen(input([endpoint({ readiness: "unready" })]))).toBe("none");
  });

  test("waits for one that is ready rather than taking one that never was, and takes that when there is no other", () => {
    const full = endpoint({ maxInflight: 1 });
    fill(full, 1);
    const fresh = endpoint({ readiness: "unknown" });
    expect(chosen(input([full, fresh]))).toBe("saturated");
    expect(chosen(input([fresh]))).toBe(fresh);
  });

  test("names the rest of the cooldown when open breakers are the only reason", () => {
    const failing = endpoint();
    for (const dispatch of fill(failing, 5)) dispatch.end({ kind: "failure", evidence: null }, 0);
    expect(chooseEndpoint(input([failing], { nowMs: 2_000 }))).toEqual({ kind: "none", breakerWaitMs: 3_000 });
  });

  test("spreads a burst between two scrapes evenly, whatever the old numbers say", () => {
    const list = [endpoint(), endpoint()];
    list.forEach((one, index) => {
      one.recordScrape({ running: index, waiting: 0, kvUsageRatio: 0 }, one.markScrape(), 0);
    });
    const random = seeded(7);
    for (let count = 0; count < 40; count += 1) {
      const one = chosen(input(list, { random }));
      if (typeof one !== "string") fill(one, 1);
    }
    for (const one of list) expect(Math.abs(one.inflight - 20)).toBeLessThanOrEqual(2);
  });

  test("goes round in turn under round-robin, past those that are full", () => {
    const list = [endpoint(), endpoint({ maxInflight: 1 }), endpoint()];
    const second = list[1];
    if (second !== undefined) fill(second, 1);
    const order = [0, 1, 2, 3].map((turn) =>
      list.indexOf(chosen(input(list, { policy: "round-robin", turn })) as RoutedEndpoint),
    );
    expect(order).toEqual([0, 2, 2, 0]);
  });

  test("never exceeds a limit, never repeats one that was tried, and finds a place whenever there is one", () => {
    const spec = fc.record({
      maxInflight: fc.integer({ min: 1, max: 4 }),
      state: fc.constantFrom<EndpointState>("serving", "moving"),
      readiness: fc.constantFrom<Readiness>("ready", "ready", "unknown", "unready"),
    });
    fc.assert(
      fc.property(
        fc.array(spec, { maxLength: 12 }),
        fc.constantFrom("least-load" as const, "round-robin" as const),
        fc.integer({ min: 1, max: 2 ** 31 }),
        (specs, policy, seed) => {
          const list = specs.map((one) => endpoint(one));
          const groups = {
            serving: list.filter(({ state }) => state === "serving"),
            moving: list.filter(({ state }) => state === "moving"),
          };
          const random = seeded(seed);
          const tried = list.filter((_, index) => index % 5 === 4);
          for (let turn = 0; turn < 40; turn += 1) {
            const choice = chooseEndpoint(input([], { groups, policy, random, turn, tried }));
            if (choice.kind === "endpoint") {
              expect(tried).not.toContain(choice.endpoint);
              fill(choice.endpoint, 1);
              expect(choice.endpoint.inflight).toBeLessThanOrEqual(choice.endpoint.maxInflight);
              continue;
            }
            const usable = list.filter((one) => !tried.includes(one) && one.readiness !== "unready");
            const best = usable.some(({ readiness }) => readiness === "ready") ? "ready" : "unknown";
            const free = usable.filter((one) => one.readiness === best && one.isBelowLimit(0));
            expect(free).toEqual([]);
            expect(choice.kind).toBe(usable.length === 0 ? "none" : "saturated");
          }
        },
      ),
    );
  });
});

describe("an endpoint", () => {
  test("counts requests of the scrape and its own once, not twice", () => {
    const one = endpoint();
    fill(one, 20);
    one.recordScrape({ running: 20, waiting: 0, kvUsageRatio: 0 }, one.markScrape(), 0);
    expect(one.score(0)).toBe(20);
    fill(one, 2);
    expect(one.score(0)).toBe(22);
  });

  test("looks busier after failures and back-pressure, and its drain rate counts only what ended well", () => {
    const one = endpoint();
    const [failed, pushed, good] = fill(one, 3);
    failed?.end({ kind: "failure", evidence: null }, 0);
    pushed?.end({ kind: "backpressure", retryAfterMs: 2_000 }, 0);
    good?.end({ kind: "neutral" }, 0);
    expect(one.drainRate(0)).toBeNull();
    expect(one.score(0)).toBeGreaterThan(256);
    expect(one.score(2_000)).toBe(1);
    expect(one.inflight).toBe(0);
  });

  test("is stale without a scrape and after a while, and never when there is nothing to scrape", () => {
    const one = endpoint();
    expect(one.isStale(0)).toBe(true);
    one.recordScrape({ running: 0, waiting: 0, kvUsageRatio: 0 }, one.markScrape(), 0);
    expect([one.isStale(5_000), one.isStale(5_001)]).toEqual([false, true]);
    const plain = new RoutedEndpoint(
      { state: "serving", maxInflight: 1, maxConcurrent: null, hasMetrics: false },
      settings,
    );
    expect(plain.isStale(1e9)).toBe(false);
  });
});
