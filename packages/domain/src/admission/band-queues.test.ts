import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BandQueues, type Place } from "./band-queues.ts";

const limits = { maxRequests: 5_000, maxBytes: 1_000_000 };

function drained(queues: BandQueues<string>): string[] {
  const order: string[] = [];
  queues.dispatch((item) => {
    order.push(item);
    return "placed";
  });
  return order;
}

describe("the queues of a model", () => {
  test("send on by band, and within a band first come first served", () => {
    const queues = new BandQueues<string>(3);
    for (const [item, rank] of [
      ["c1", 2],
      ["a1", 0],
      ["b1", 1],
      ["a2", 0],
      ["c2", 2],
    ] as const) {
      queues.join(item, { rank, bytes: 1, limits });
    }
    queues.join("a0", { rank: 0, bytes: 1, limits, atFront: true });
    expect(drained(queues)).toEqual(["a0", "a1", "a2", "b1", "c1", "c2"]);
    expect(queues.size).toBe(0);
  });

  test("stop where nobody can go, and pass by one that cannot go yet", () => {
    const queues = new BandQueues<string>(1);
    for (const item of ["a", "b", "c"]) queues.join(item, { rank: 0, bytes: 1, limits });
    queues.dispatch((item) => ({ a: "held", b: "placed", c: "stop" })[item] as "held" | "placed" | "stop");
    expect(drained(queues)).toEqual(["a", "c"]);
  });

  test("refuse more than their bounds of requests and of bytes, each band for itself", () => {
    const tight = { maxRequests: 2, maxBytes: 100 };
    const queues = new BandQueues<string>(2);
    expect(queues.join("a", { rank: 0, bytes: 500, limits: tight })).not.toBeNull(); // alone it may be larger
    expect(queues.join("b", { rank: 0, bytes: 1, limits: tight })).toBeNull();
    expect(queues.join("c", { rank: 1, bytes: 40, limits: tight })).not.toBeNull();
    expect(queues.join("d", { rank: 1, bytes: 40, limits: tight })).not.toBeNull();
    expect(queues.join("e", { rank: 1, bytes: 1, limits: tight })).toBeNull();
  });

  test("count right and keep their order whatever joins and leaves", () => {
    const step = fc.oneof(fc.record({ join: fc.nat(2) }), fc.record({ leave: fc.nat(40) }));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const queues = new BandQueues<string>(3);
        const places: Place<string>[] = [];
        const model: string[][] = [[], [], []];
        steps.forEach((action, index) => {
          if ("join" in action) {
            const place = queues.join(`${index}`, { rank: action.join, bytes: 1, limits });
            if (place !== null) places.push(place);
            model[action.join]?.push(`${index}`);
            return;
          }
          const place = places[action.leave];
          if (place === undefined) return;
          const band = model[place.rank] ?? [];
          expect(queues.leave(place)).toBe(band.includes(place.item));
          model[place.rank] = band.filter((item) => item !== place.item);
        });
        expect([0, 1, 2].map((rank) => queues.depth(rank))).toEqual(model.map((band) => band.length));
        expect(drained(queues)).toEqual(model.flat());
      }),
    );
  });
});
