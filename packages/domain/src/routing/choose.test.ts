import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { utf8 } from "../testing/utf8.ts";
import { AffinityTable, prefixKeys, sessionKeys } from "./affinity.ts";
import { defaultBreakerSettings } from "./breaker.ts";
import { type ChoiceInput, chooseEndpoint } from "./choose.ts";
import { explainChoice } from "./explain.ts";
import { type Dispatch, type EndpointState, type Readiness, RoutedEndpoint } from "./routed-endpoint.ts";
import { defaultSaturationLimits } from "./saturation.ts";

const settings = {
  breaker: defaultBreakerSettings,
  saturation: defaultSaturationLimits,
  staleAfterMs: 5_000,
  slowStartMs: 0,
};
let made = 0;

function endpoint(
  options: {
    maxInflight?: number;
    state?: EndpointState;
    readiness?: Readiness;
    slowStartMs?: number;
    readyAtMs?: number;
  } = {},
): RoutedEndpoint {
  const { maxInflight = 256, state = "serving", readiness = "ready", slowStartMs = 0, readyAtMs = 0 } = options;
  made += 1;
  const facts = { name: `r${made}`, state, maxInflight, maxConcurrent: null, hasMetrics: true };
  const one = new RoutedEndpoint(facts, { ...settings, slowStartMs });
  one.setReadiness(readiness, readyAtMs);
  return one;
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
    ceiling: 1,
    nowMs: 0,
    random: seeded(1),
    turn: 0,
    keys: [],
    table: new AffinityTable(1_000),
    freed: null,
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

  test("holds a low band at its ceiling while a high one goes on to the limit", () => {
    const one = endpoint({ maxInflight: 10 });
    fill(one, 6);
    expect(chosen(input([one], { ceiling: 0.6 }))).toBe("saturated");
    expect(chosen(input([one], { ceiling: 0.8 }))).toBe(one);
    fill(one, 4);
    expect(chosen(input([one]))).toBe("saturated");
  });

  test("stays within a tenth of fair shares while all numbers are stale", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 8 }), fc.integer({ min: 1, max: 2 ** 31 }), (count, seed) => {
        const list = Array.from({ length: count }, () => endpoint());
        list[0]?.recordScrape({ running: 0, waiting: 0, kvUsageRatio: 0 }, list[0].markScrape(), -60_000);
        const random = seeded(seed);
        for (let sent = 0; sent < 100 * count; sent += 1) {
          const one = chosen(input(list, { random }));
          if (typeof one !== "string") fill(one, 1);
        }
        for (const one of list) expect(Math.abs(one.inflight - 100)).toBeLessThanOrEqual(10);
      }),
    );
  });

  test("starts a new endpoint slowly, and at once where all are new", () => {
    const share = (readyAtMs: readonly number[], nowMs: number) => {
      const list = readyAtMs.map((at) => endpoint({ slowStartMs: 30_000, readyAtMs: at }));
      const random = seeded(3);
      for (let sent = 0; sent < 300; sent += 1) {
        const one = chosen(input(list, { random, nowMs }));
        if (typeof one !== "string") fill(one, 1);
      }
      return (list.at(-1)?.inflight ?? 0) / 300;
    };
    expect(share([0, 0, 60_000], 60_000)).toBeLessThan(0.08);
    expect(share([0, 0, 60_000], 75_000)).toBeGreaterThan(0.15);
    expect(share([0, 0, 60_000], 90_000)).toBeGreaterThan(0.3);
    expect(share([0, 0, 0], 3_000)).toBeGreaterThan(0.3);
  });

  test("says why: each endpoint with its numbers and what became of it", () => {
    const list = [endpoint(), endpoint(), endpoint({ state: "draining" }), endpoint({ readiness: "unready" })];
    const [, busy] = list;
    if (busy !== undefined) fill(busy, 3);
    const serving = list.filter(({ state }) => state === "serving");
    const choice = chooseEndpoint(input(serving));
    expect(choice).toMatchObject({ kind: "endpoint", why: "least_of_two" });
    const explained = explainChoice(list, choice, { tried: [], ceiling: 1, nowMs: 0 });
    expect(explained.map(({ verdict, score }) => [verdict, score])).toEqual([
      ["chosen", 0],
      ["rival", 3],
      ["draining", 0],
      ["unready", 0],
    ]);
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
        fc.constantFrom("least-load" as const, "round-robin" as const, "prefix" as const, "session" as const),
        fc.integer({ min: 1, max: 2 ** 31 }),
        (specs, policy, seed) => {
          const table = new AffinityTable<RoutedEndpoint>(8);
          const list = specs.map((one) => endpoint(one));
          const groups = {
            serving: list.filter(({ state }) => state === "serving"),
            moving: list.filter(({ state }) => state === "moving"),
          };
          const random = seeded(seed);
          const tried = list.filter((_, index) => index % 5 === 4);
          for (let turn = 0; turn < 40; turn += 1) {
            const keys = policy === "prefix" || policy === "session" ? [turn % 5] : [];
            const choice = chooseEndpoint(input([], { groups, policy, random, turn, tried, keys, table }));
            if (choice.kind === "endpoint") {
              expect(tried).not.toContain(choice.endpoint);
              fill(choice.endpoint, 1);
              expect(choice.endpoint.inflight).toBeLessThanOrEqual(choice.endpoint.maxInflight);
              continue;
            }
            const usable = list.filter((one) => !tried.includes(one) && one.readiness !== "unready");
            const best = usable.some(({ readiness }) => readiness === "ready") ? "ready" : "unknown";
            const free = usable.filter((one) => one.readiness === best && one.isBelow(1, 0));
            expect(free).toEqual([]);
            expect(choice.kind).toBe(usable.length === 0 ? "none" : "saturated");
          }
        },
      ),
    );
  });
});

describe("affinity", () => {
  const bytes = utf8;
  const prefix = (text: string) => prefixKeys(bytes(text), { start: 0, end: bytes(text).length });

  test("sends prompts with a common head to the endpoint that has had it", () => {
    const list = Array.from({ length: 8 }, () => endpoint());
    const table = new AffinityTable<RoutedEndpoint>(1_000);
    const random = seeded(5);
    const head = "You are a helpful assistant. ".repeat(40);
    const ask = (text: string) => chosen(input(list, { policy: "prefix", keys: prefix(text), table, random }));
    const first = ask(`${head}one`);
    for (const text of ["two", "three", "four".repeat(400)]) expect(ask(head + text)).toBe(first);
  });

  test("spills to others when the endpoint is busier than the rest, and a hot prompt overloads nobody", () => {
    const list = Array.from({ length: 4 }, () => endpoint({ maxInflight: 64 }));
    const table = new AffinityTable<RoutedEndpoint>(1_000);
    const random = seeded(5);
    const keys = prefix("hot ".repeat(2_000));
    for (let sent = 0; sent < 200; sent += 1) {
      const one = chosen(input(list, { policy: "prefix", keys, table, random }));
      if (typeof one !== "string") fill(one, 1);
    }
    for (const one of list) expect(one.inflight).toBeLessThanOrEqual(1.5 * 50);
    for (const one of list) expect(one.inflight).toBeGreaterThanOrEqual(0.5 * 50);
  });

  test("follows a session, agrees between routers, and moves it when its endpoint drains", () => {
    const list = Array.from({ length: 5 }, () => endpoint());
    const tables = [new AffinityTable<RoutedEndpoint>(100), new AffinityTable<RoutedEndpoint>(100)];
    const ask = (name: string, table = tables[0] ?? new AffinityTable<RoutedEndpoint>(1), serving = list) =>
      chosen(input(serving, { policy: "session", keys: sessionKeys(bytes(name)), table }));
    const users = Array.from({ length: 200 }, (_, index) => `user-${index}`);
    const homes = users.map((user) => ask(user));
    expect(users.map((user) => ask(user))).toEqual(homes);
    expect(users.map((user) => ask(user, tables[1]))).toEqual(homes);
    for (const one of list) expect(homes.filter((home) => home === one).length).toBeGreaterThan(15);
    const [gone] = homes;
    const rest = list.filter((one) => one !== gone);
    expect(rest).toContain(ask("user-0", tables[0], rest));
  });

  test("remembers so many prompts and no more", () => {
    const table = new AffinityTable<string>(100);
    table.remember([1], "kept", false);
    for (let key = 2; key < 10_000; key += 1) {
      table.remember([key], "other", false);
      expect(table.find([1])).toBe("kept"); // what is asked for stays
    }
    expect(table.size).toBe(100);
    table.retain((endpoint) => endpoint !== "other");
    expect(table.size).toBe(1);
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
      { name: "plain", state: "serving", maxInflight: 1, maxConcurrent: null, hasMetrics: false },
      settings,
    );
    expect(plain.isStale(1e9)).toBe(false);
  });
});
