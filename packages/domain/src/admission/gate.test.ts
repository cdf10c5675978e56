import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AdmissionGate, type GateSettings, type Place } from "./gate.ts";

const settings: GateSettings = {
  ceilings: [1, 0.8, 0.6],
  lowBandShare: 0.1,
  maxRequests: 5_000,
  maxBytes: 1_000_000,
  promoteAfterMs: 30_000,
};
const order = { ...settings, lowBandShare: 0 };
const noKey = { owner: "key", bytes: 1, nowMs: 0 };

function drained(gate: AdmissionGate<string>): string[] {
  const sent: string[] = [];
  gate.dispatch(0, (item) => {
    sent.push(item);
    return "sent";
  });
  return sent;
}

describe("the gate of a model", () => {
  test("sends on by band, within a band first come first served, and retries ahead of all", () => {
    const gate = new AdmissionGate<string>(order);
    for (const [item, rank] of [
      ["c1", 2],
      ["a1", 0],
      ["b1", 1],
      ["a2", 0],
      ["c2", 2],
    ] as const) {
      gate.join(item, { ...noKey, rank });
    }
    gate.join("retry", { ...noKey, rank: 0, isRetry: true });
    expect(drained(gate)).toEqual(["retry", "a1", "a2", "b1", "c1", "c2"]);
    expect(gate.size).toBe(0);
  });

  test("lets keys take turns: a thousand requests of one key delay another's by one", () => {
    const gate = new AdmissionGate<string>(order);
    for (let count = 0; count < 1_000; count += 1) gate.join(`a${count}`, { ...noKey, owner: "a", rank: 0 });
    for (const item of ["b0", "b1"]) gate.join(item, { ...noKey, owner: "b", rank: 0 });
    expect(drained(gate).slice(0, 5)).toEqual(["a0", "b0", "a1", "b1", "a2"]);
  });

  test("stops where nobody can go, and a retry that cannot go holds nobody up", () => {
    const gate = new AdmissionGate<string>(order);
    gate.join("retry", { ...noKey, rank: 0, isRetry: true });
    for (const item of ["a", "b", "c"]) gate.join(item, { ...noKey, rank: 0 });
    const offered: string[] = [];
    gate.dispatch(0, (item) => {
      offered.push(item);
      return item === "a" ? "sent" : "held";
    });
    expect(offered).toEqual(["retry", "a", "b"]);
    expect(drained(gate)).toEqual(["retry", "b", "c"]);
  });

  test("refuses more than its bounds of requests and of bytes, each band for itself", () => {
    const gate = new AdmissionGate<string>({ ...settings, maxRequests: 2, maxBytes: 100 });
    expect(gate.join("a", { ...noKey, rank: 0, bytes: 500 })).not.toBeNull(); // alone it may be larger
    expect(gate.join("b", { ...noKey, rank: 0 })).toBeNull();
    expect(gate.join("c", { ...noKey, rank: 1, bytes: 40 })).not.toBeNull();
    expect(gate.join("d", { ...noKey, rank: 1, bytes: 40 })).not.toBeNull();
    expect(gate.join("e", { ...noKey, rank: 1 })).toBeNull();
    expect(gate.join("retry", { ...noKey, rank: 1, isRetry: true })).not.toBeNull();
  });

  test("holds lower bands back at their ceilings, and none for longer than its time", () => {
    const gate = new AdmissionGate<string>(settings);
    gate.join("batch", { ...noKey, rank: 2 });
    const at = (fullness: number, nowMs: number) => {
      let went = false;
      gate.dispatch(nowMs, (_item, ceiling) => {
        if (fullness >= ceiling) return "held";
        went = true;
        return "dropped";
      });
      return went;
    };
    expect(at(0.7, 0)).toBe(false);
    expect(at(0.7, 29_999)).toBe(false);
    expect(at(1, 30_000)).toBe(false);
    expect(at(0.7, 30_000)).toBe(true);
  });

  test("lets a request pass those that wait in lower bands, until one of them is owed its turn", () => {
    const gate = new AdmissionGate<string>(settings);
    gate.join("low", { ...noKey, rank: 2 });
    expect(gate.isClearFor(2)).toBe(false);
    for (let count = 0; count < 9; count += 1) {
      expect(gate.isClearFor(0)).toBe(true);
      expect(gate.passed(0)).toBe(false);
    }
    expect(gate.passed(0)).toBe(true);
    expect(gate.isClearFor(0)).toBe(false);
    gate.join("high", { ...noKey, rank: 0 });
    expect(drained(gate)).toEqual(["low", "high"]);
  });

  test("starves nobody: under endless load from above, every band and every key goes on", () => {
    const load = fc.record({
      share: fc.constantFrom(0.05, 0.1, 0.25),
      bands: fc.integer({ min: 2, max: 4 }),
      keys: fc.integer({ min: 1, max: 5 }),
      low: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(load, ({ share, bands, keys, low }) => {
        const ceilings = Array.from({ length: bands }, (_, rank) => 1 - rank / 10);
        const gate = new AdmissionGate<number>({ ...settings, ceilings, lowBandShare: share });
        const waiting = new Map<string, number>();
        for (let rank = 1; rank < bands; rank += 1) {
          for (let key = 0; key < keys; key += 1) {
            for (let count = 0; count < low; count += 1) gate.join(rank, { ...noKey, owner: `k${key}`, rank });
          }
          waiting.set(`${rank}`, keys * low);
        }
        const lows = (bands - 1) * keys * low;
        const rounds = Math.ceil(lows / share) + 2;
        const served = Array.from({ length: bands }, () => 0);
        for (let round = 0; round < rounds; round += 1) {
          gate.join(0, { ...noKey, owner: "loud", rank: 0 });
          let room = 1; // one place comes free a round: the first band alone could use it all
          gate.dispatch(0, (rank) => {
            if (room === 0) return "held";
            room -= 1;
            served[rank] = (served[rank] ?? 0) + 1;
            return "sent";
          });
          const low = served.slice(1).reduce((sum, count) => sum + count, 0);
          if (low < lows) expect(low).toBeGreaterThanOrEqual(Math.floor((round + 1) * share) - 1);
        }
        expect(served.slice(1)).toEqual(Array.from({ length: bands - 1 }, () => keys * low));
      }),
      { numRuns: 50 },
    );
  });

  test("counts right and keeps the order of each key whatever joins and leaves", () => {
    const join = fc.record({ join: fc.nat(2), key: fc.nat(3), isRetry: fc.boolean() });
    const step = fc.oneof(join, fc.record({ leave: fc.nat(40) }));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const gate = new AdmissionGate<string>(settings);
        const places: Place<string>[] = [];
        const present = new Map<string, number>();
        steps.forEach((action, index) => {
          if ("join" in action) {
            const item = `${action.join}/${action.isRetry ? "retry" : action.key}/${index}`;
            const options = { ...noKey, rank: action.join, owner: `${action.key}`, isRetry: action.isRetry };
            const place = gate.join(item, options);
            if (place !== null) places.push(place);
            present.set(item, index);
            return;
          }
          const place = places[action.leave];
          if (place === undefined) return;
          expect(gate.leave(place)).toBe(present.delete(place.item));
        });
        const items = [...present.keys()];
        const depths = [0, 1, 2].map((rank) => items.filter((item) => item.startsWith(`${rank}/`)).length);
        expect([0, 1, 2].map((rank) => gate.depth(rank))).toEqual(depths);
        const sent = drained(gate);
        expect(new Set(sent)).toEqual(new Set(items));
        expect(sent).toHaveLength(items.length);
        expect(gate.size).toBe(0);
        for (const lane of new Set(items.map((item) => item.slice(0, item.lastIndexOf("/"))))) {
          const ofLane = (item: string) => item.startsWith(`${lane}/`);
          expect(sent.filter(ofLane)).toEqual(items.filter(ofLane));
        }
      }),
    );
  });
});
