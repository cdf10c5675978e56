import { appendFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openKernelLog, XidReader } from "./kernel-log.ts";

const card = "00000000:41:00.0";
const lost = "NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
const contained = "NVRM: Xid (PCI:0000:41:00): 94, pid=7001, name=engine, Contained: CE User Channel (0x9).";
const withoutXid = [
  "NVRM: The NVIDIA GPU 0000:41:00.0",
  "NVRM: (PCI ID: 10de:0000) installed in this system has",
  "NVRM: fallen off the bus and is not responding to commands.",
];

function readerOf(...lines: string[]): XidReader {
  const reader = new XidReader();
  for (const line of lines) reader.take(line);
  return reader;
}

describe("Xids in the kernel log", () => {
  it("belong to the card of their PCI address, however it is spelled", () => {
    expect(readerOf(lost).of(card)).toMatchObject([{ kind: "xid", number: 79, evidence: lost }]);
    expect(readerOf(contained).of("0000:41:00.0")).toMatchObject([{ number: 94 }]);
    expect(readerOf(lost).of("00000000:17:00.0")).toEqual([]);
  });

  it("are found for a card that fell off the bus without one, over several lines, and once for one fault", () => {
    expect(readerOf(...withoutXid).of(card)).toMatchObject([{ number: 79 }]);
    expect(readerOf(lost, ...withoutXid).of(card)).toHaveLength(1);
  });

  it("that are malformed are counted and harm nobody; of an unknown number they are kept with their line", () => {
    const reader = readerOf("NVRM: Xid broken", "usb 1-1: new device", "NVRM: Xid (PCI:0000:41:00): 999, odd");
    expect(reader.malformed).toBe(1);
    expect(reader.of(card)).toMatchObject([{ number: 999 }]);
  });
});

describe("openKernelLog", () => {
  it("reads records as the kernel writes them, those of before its start included, and what comes later", async () => {
    const dir = await mkdtemp(join(tmpdir(), "llmgw-kmsg-"));
    const path = join(dir, "kmsg");
    await writeFile(path, `6,1,1000,-;usb 1-1: new device\n3,2,2000,-;${contained}\n`);
    const log = openKernelLog(path);
    log?.read();
    expect(log?.faultsOf(card)).toMatchObject([{ number: 94 }]);
    await appendFile(path, `3,3,3000,-;${lost}\n3,4,4000,-;NVRM: Xid (PCI:0000:99:00): 48, DBE\n`);
    log?.read();
    expect(log?.faultsOf(card)).toMatchObject([{ number: 94 }, { number: 79 }]);
    expect(log?.strange.unknownCards).toEqual(["0000:99:00"]);
    log?.close();
    await rm(dir, { recursive: true });
  });

  it("is none where it may not be read: unknown is not 'no Xid'", () => {
    expect(openKernelLog("/nowhere/kmsg")).toBeNull();
  });
});
