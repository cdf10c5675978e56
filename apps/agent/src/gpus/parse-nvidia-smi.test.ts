import { describe, expect, it } from "vitest";
import { isSameBusId, parseComputeApps, parseInventory } from "./parse-nvidia-smi.ts";
import { nvidiaSmi } from "./testing/nvidia-smi-output.ts";

describe("parseInventory", () => {
  it("reads healthy cards", () => {
    const { gpus, messages } = parseInventory(nvidiaSmi.twoHealthy);
    expect(messages).toEqual([]);
    expect(gpus).toHaveLength(2);
    expect(gpus[1]).toMatchObject({
      uuid: "GPU-00000000-0000-4000-8000-0000000000a1",
      index: 1,
      pciBusId: "00000000:41:00.0",
      totalMib: 81_559,
      usedMib: 4,
      temperatureC: 33,
      utilizationRatio: 0,
      eccUncorrected: 0,
      migMode: "disabled",
      faults: [],
    });
  });

  it("keeps a card that has neither ECC nor MIG", () => {
    expect(parseInventory(nvidiaSmi.consumer).gpus).toMatchObject([
      { totalMib: 24_564, utilizationRatio: 0.03, eccUncorrected: "unsupported", migMode: "unsupported", faults: [] },
    ]);
  });

  it("does not call unified memory 0", () => {
    expect(parseInventory(nvidiaSmi.unifiedMemory).gpus).toMatchObject([
      { totalMib: "unsupported", usedMib: "unsupported" },
    ]);
  });

  it("makes unreadable fields the fault of their own card only", () => {
    const { gpus } = parseInventory(`${nvidiaSmi.row0}\n${nvidiaSmi.unknownErrors}\n`);
    expect(gpus[0]).toMatchObject({ totalMib: 81_559, faults: [] });
    expect(gpus[1]).toMatchObject({
      totalMib: "unreadable",
      temperatureC: "unreadable",
      faults: [{ kind: "unreadable" }],
    });
    expect(gpus[1]?.faults[0]?.evidence).toContain("memory.total=[Unknown Error]");
  });

  it("calls a row that was cut off unreadable and keeps the others", () => {
    const cut = nvidiaSmi.row1.split(",").slice(0, 4).join(",");
    const { gpus } = parseInventory(`${nvidiaSmi.row0}\n${cut}`);
    expect(gpus[0]?.faults).toEqual([]);
    expect(gpus[1]).toMatchObject({ totalMib: "unreadable", faults: [{ kind: "unreadable" }] });
  });

  it.each(["first", "middle", "last"])("finds the line of a lost card that stands %s, and its siblings", (where) => {
    const rows: string[] = [nvidiaSmi.row0, nvidiaSmi.row2];
    const at = { first: 0, middle: 1, last: 2 }[where] ?? 0;
    const { gpus, lost } = parseInventory(rows.toSpliced(at, 0, nvidiaSmi.lostLine).join("\n"));
    expect(gpus.map((gpu) => gpu.index)).toEqual([0, 2]);
    expect(lost).toEqual([{ busId: "0000:41:00.0", evidence: nvidiaSmi.lostLine }]);
  });

  it("gets along with CRLF, blank lines and warnings, which it keeps", () => {
    const { gpus, messages, lost } = parseInventory(nvidiaSmi.crlf);
    expect(gpus).toHaveLength(2);
    expect(messages).toEqual([nvidiaSmi.warning]);
    expect(lost).toEqual([]);
  });

  it("says that a card in MIG mode is one", () => {
    expect(parseInventory(nvidiaSmi.migParent).gpus).toMatchObject([
      { migMode: "enabled", utilizationRatio: "unsupported" },
    ]);
  });

  it("trusts neither of two rows with one UUID", () => {
    const { gpus } = parseInventory(`${nvidiaSmi.row0}\n${nvidiaSmi.row0.replace("0,", "5,")}`);
    expect(gpus).toHaveLength(1);
    expect(gpus[0]?.faults).toMatchObject([{ kind: "unreadable" }]);
  });
});

describe("parseComputeApps", () => {
  it("reads processes and leaves out what is none", () => {
    expect(
      parseComputeApps("4242, GPU-00000000-0000-4000-8000-0000000000a1, 22300\nNo running processes found\n"),
    ).toEqual([{ pid: 4242, gpuUuid: "GPU-00000000-0000-4000-8000-0000000000a1", usedMib: 22_300 }]);
  });
});

describe("isSameBusId", () => {
  it("knows a bus id in the spellings of the tool and of the kernel", () => {
    expect(isSameBusId("0000:41:00.0", "00000000:41:00.0")).toBe(true);
    expect(isSameBusId("41:00", "00000000:41:00.0")).toBe(true);
    expect(isSameBusId("0000:41:00", "0000000F:41:00.0")).toBe(false);
  });
});
