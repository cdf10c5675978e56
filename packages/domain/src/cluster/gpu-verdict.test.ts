import { describe, expect, it } from "vitest";
import { describeReason } from "../reasons/catalogue.ts";
import { aGpu, testNowMs } from "../testing/index.ts";
import type { GpuFacts, GpuFault, GpuHealth } from "./gpu.ts";
import { whatClears } from "./gpu-clearing.ts";
import { judgeGpu, judgeMissingGpu } from "./gpu-verdict.ts";
import { xidTableWith } from "./xid-table.ts";

const nowMs = testNowMs;
const facts = (overrides: Partial<GpuFacts> = {}): GpuFacts => aGpu(overrides);
const judge = (overrides: Partial<GpuFacts> = {}, previous: GpuHealth | null = null, bootId = "boot-1") =>
  judgeGpu({ facts: facts(overrides), previous, bootId, nowMs });
const xid = (number: number, evidence = `NVRM: Xid (PCI:0000:41:00): ${number}, ...`): GpuFault => ({
  kind: "xid",
  number,
  evidence,
});
const advice = (action: string): GpuFault => ({ kind: "recovery_action", action, evidence: action });

const stays = { status: "healthy", schedulable: true, evict: "none" };
const warned = { status: "degraded", schedulable: true, evict: "none" };
const excluded = { status: "unhealthy", schedulable: false, evict: "none" };
const out = { status: "unhealthy", schedulable: false, evict: "move" };
const unknown = { status: "unknown", schedulable: false, evict: "none" };

describe("which Xid condemns a GPU", () => {
  it.each([
    [13, stays],
    [31, stays],
    [43, stays],
    [45, stays],
    [94, warned],
    [63, warned],
    [9_999, warned],
    [74, excluded],
    [48, out],
    [64, out],
    [79, out],
    [109, out],
    [119, out],
  ])("Xid %i", (number, expected) => {
    const fault = xid(number);
    const health = judge({ faults: [fault] });
    expect(health).toMatchObject(expected);
    expect(health.evidence).toBe(expected === stays ? null : fault.evidence);
  });

  it("takes an NVLink 5 line's own word on whether it was fatal", () => {
    expect(judge({ faults: [xid(149, "Xid 149, NETIR_LINK_EVT Fatal XC0")] })).toMatchObject(out);
    expect(judge({ faults: [xid(149, "Xid 149, NETIR_LINK_EVT Nonfatal XC0")] })).toMatchObject(warned);
  });

  it("can be judged otherwise number by number", () => {
    const xids = xidTableWith({ 94: "evict", 79: "application", 9999: "exclude" });
    const found = (number: number) =>
      judgeGpu({ facts: facts({ faults: [xid(number)] }), previous: null, bootId: "boot-1", nowMs, xids });
    expect(found(94)).toMatchObject(out);
    expect(found(79)).toMatchObject(stays);
    expect(found(9_999)).toMatchObject(excluded);
    expect(found(48)).toMatchObject(out);
  });

  it("lets the worst of several decide", () => {
    expect(judge({ faults: [xid(94), xid(79), xid(63)], eccUncorrected: 2 }).reason).toMatchObject({
      code: "gpu_xid",
      params: { xid: 79 },
    });
  });
});

describe("what the driver says of a GPU", () => {
  it.each([
    ["a card without ECC or MIG is healthy", { eccUncorrected: "unsupported", migMode: "unsupported" }, stays],
    ["uncorrectable errors since the last reset keep new work away", { eccUncorrected: 3 }, excluded],
    ["an unreadable error count is a warning", { eccUncorrected: "unreadable" }, warned],
    ["MIG keeps whole-card work away", { migMode: "enabled" }, excluded],
    ["unreadable total memory is unknown, not 0", { totalMib: "unreadable" }, unknown],
    ["unreadable used memory is unknown, not 0", { usedMib: "unreadable" }, unknown],
    [
      "a memory size that the device does not have is no fault",
      { totalMib: "unsupported", usedMib: "unsupported" },
      stays,
    ],
    ["an unreadable temperature alone is no fault", { temperatureC: "unreadable" }, stays],
    ["a hot card is not a dead one", { temperatureC: 91 }, stays],
    ["a lost device is out", { faults: [{ kind: "lost", evidence: "GPU is lost" }] }, out],
    ["no advice", { faults: [advice("None")] }, stays],
    ["advice that this driver does not know of", { faults: [advice("[N/A]")] }, stays],
    ["Reset", { faults: [advice("Reset")] }, excluded],
    ["Reboot", { faults: [advice("Reboot")] }, excluded],
    ["Drain P2P", { faults: [advice("Drain P2P")] }, excluded],
    ["Drain and Reset", { faults: [advice("Drain and Reset")] }, excluded],
    ["an unknown word is a warning", { faults: [advice("Frobnicate")] }, warned],
  ] satisfies [string, Partial<GpuFacts>, object][])("%s", (_, overrides, expected) => {
    expect(judge(overrides)).toMatchObject(expected);
  });

  it("is told with its numbers and what clears it", () => {
    const health = judge({ eccUncorrected: 3 });
    expect(describeReason(health.reason!)).toBe("GPU 0 has 3 uncorrectable ECC errors since the last reset");
    expect(whatClears(health)).toContain("a reset of the GPU");
    expect(whatClears(health, "zh-CN")).toContain("重置");
    expect(whatClears(judge())).toBeNull();
  });
});

describe("getting well again", () => {
  const fallen = judge({ faults: [xid(79)] });

  it("a restart of the agent launders nothing: the fault of this boot stands although no line shows it any more", () => {
    expect(judge({}, fallen)).toEqual(fallen);
  });

  it("a reboot with clean facts makes it healthy, one with the fault still there does not", () => {
    expect(judge({}, fallen, "boot-2")).toMatchObject({ ...stays, sinceMs: nowMs, bootId: "boot-2", reason: null });
    expect(judge({ faults: [xid(79)] }, fallen, "boot-2")).toMatchObject(out);
  });

  it("a value that could not be read for a moment clears with the next probe", () => {
    expect(judge({}, judge({ totalMib: "unreadable" }))).toMatchObject(stays);
  });

  it("ECC errors end when the driver counts 0, not when it is silent", () => {
    const errors = judge({ eccUncorrected: 3 });
    expect(judge({ eccUncorrected: "unreadable" }, errors)).toMatchObject(excluded);
    expect(judge({ eccUncorrected: 0 }, errors)).toMatchObject(stays);
  });

  it("the driver's advice ends when it says None, not when it is silent", () => {
    const advised = judge({ faults: [advice("Reset")] });
    expect(judge({}, advised)).toMatchObject(excluded);
    expect(judge({ faults: [advice("None")] }, advised)).toMatchObject(stays);
  });

  it("keeps since when it has been so, and names the index that the GPU has now", () => {
    const later = judgeGpu({ facts: facts({ index: 1 }), previous: fallen, bootId: "boot-1", nowMs: nowMs + 60_000 });
    expect(later.sinceMs).toBe(nowMs);
    expect(describeReason(later.reason!)).toBe("GPU 1: Xid 79, the GPU has fallen off the bus");
  });

  it("a missing GPU is out, comes back with its return, and its vanishing does not clear a fault of this boot", () => {
    const missing = judgeMissingGpu({ index: 0, previous: judge(), bootId: "boot-1", missingSinceMs: nowMs });
    expect(missing).toMatchObject({ ...out, reason: { code: "gpu_missing" } });
    expect(judge({}, missing)).toMatchObject(stays);
    const vanished = judgeMissingGpu({ index: 0, previous: fallen, bootId: "boot-1", missingSinceMs: nowMs });
    expect(judge({}, vanished)).toMatchObject({ ...out, reason: { code: "gpu_xid" } });
  });
});
