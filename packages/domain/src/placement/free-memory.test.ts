import { describe, expect, it } from "vitest";
import { aGpu } from "../testing/index.ts";
import { gpuFreeMib, gpuHolders } from "./free-memory.ts";
import type { Tenant } from "./tenants.ts";

const tenant = (shard: string, claimMib: number): Tenant => ({
  replicaId: shard.slice(0, -2),
  shard,
  claimMib,
  shareGpu: true,
});
const free = (overrides: Parameters<typeof aGpu>[0], tenants: readonly Tenant[] = [], reserveMib = 512) =>
  gpuFreeMib(aGpu({ totalMib: 80_000, usedMib: 0, ...overrides }), tenants, reserveMib);
const known = (freeMib: number) => ({ kind: "known", freeMib });

describe("free memory of a GPU", () => {
  it("of an idle card is its total without the reserve", () => {
    expect(free({})).toEqual(known(79_488));
    expect(free({ usedMib: 4 })).toEqual(known(79_488));
  });

  it("counts what strangers hold, and shows them with their pids", () => {
    const gpu = { totalMib: 81_559, usedMib: 22_310, processes: [{ pid: 4_242, usedMib: 22_300, shard: null }] };
    expect(free(gpu)).toEqual(known(81_559 - 22_310));
    expect(gpuHolders(aGpu(gpu), [], 512)).toEqual([
      { kind: "process", id: "pid 4242", mib: 22_300 },
      { kind: "reserve", id: "reserve", mib: 512 },
    ]);
  });

  it("counts used memory that no process is listed for (drivers hide them from containers)", () => {
    expect(free({ usedMib: 22_310 })).toEqual(known(57_690));
    expect(free({ usedMib: 22_310, processes: [{ pid: 4_242, usedMib: "unsupported", shard: null }] })).toEqual(
      known(57_690),
    );
  });

  it("does not count our own shard's use as a stranger's: its promise counts, or its use where that is more", () => {
    const own = { usedMib: 18_000, processes: [{ pid: 7_001, usedMib: 18_000, shard: "m-aaaaa/0" }] };
    expect(free(own, [tenant("m-aaaaa/0", 20_000)])).toEqual(known(59_488));
    expect(free(own, [tenant("m-aaaaa/0", 15_000)])).toEqual(known(61_488));
  });

  it("takes used memory for our shard's, up to its promise, where its pid is hidden", () => {
    expect(free({ usedMib: 18_000 }, [tenant("m-aaaaa/0", 20_000)])).toEqual(known(59_488));
    expect(free({ usedMib: 50_000 }, [tenant("m-aaaaa/0", 20_000)])).toEqual(known(30_000));
  });

  it("keeps a promise that its shard has not used yet out of strangers' hands", () => {
    const stranger = { usedMib: 22_300, processes: [{ pid: 4_242, usedMib: 22_300, shard: null }] };
    expect(free(stranger, [tenant("m-aaaaa/0", 40_000)])).toEqual(known(80_000 - 22_300 - 40_000));
  });

  it("counts a process of a shard that is not a tenant any more as a stranger", () => {
    const left = { usedMib: 18_000, processes: [{ pid: 7_001, usedMib: 18_000, shard: "m-old22/0" }] };
    expect(free(left)).toEqual(known(62_000));
    expect(gpuHolders(aGpu(left), [], 0)).toEqual([{ kind: "process", id: "pid 7001 (m-old22/0)", mib: 18_000 }]);
  });

  it("is never below 0, and unknown where the driver does not say: unknown is not 0", () => {
    expect(free({ usedMib: 80_000 })).toEqual(known(0));
    expect(free({ totalMib: "unsupported", usedMib: "unsupported" })).toEqual({
      kind: "unknown",
      found: "unsupported",
    });
    expect(free({ usedMib: "unreadable" })).toEqual({ kind: "unknown", found: "unreadable" });
  });
});
