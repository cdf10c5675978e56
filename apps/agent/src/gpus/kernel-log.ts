import { closeSync, constants, openSync, readSync } from "node:fs";
import type { GpuFault } from "@llmgw/domain";
import { isSameBusId } from "./parse-nvidia-smi.ts";

/** Xids that the kernel log holds of this boot, by card. */
export interface KernelLog {
  /** Reads what is new. Never waits. */
  read(): void;
  faultsOf(pciBusId: string | null): readonly GpuFault[];
  /** Lines that speak of a card which no probe has listed, and lines that look like an Xid and are none. */
  readonly strange: { readonly unknownCards: readonly string[]; readonly malformed: number };
}

interface XidEvent {
  readonly busId: string;
  readonly number: number;
  readonly evidence: string;
}

const xidLine = /NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]+)\): (\d+)\b/;
const cardLine = /NVRM:.*\bGPU ((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2})/;
const fellOff = /NVRM:.*fallen off the bus/;
/** "Fallen off the bus" without an Xid is what Xid 79 says. */
const lostXid = 79;
const longestEvidence = 500;
/** Bytes of one read: a record of /dev/kmsg is at most 8 KiB. */
const recordBytes = 8 * 1024;
/** Records of one look at most, so that a flood of kernel messages holds nothing up. */
const recordsAtOnce = 20_000;

/** Gathers Xids from lines, which may name a card in one line and its loss in another. */
export class XidReader {
  /** The newest line of each number of each card: a fault that repeats is one fault. */
  readonly #events = new Map<string, XidEvent>();
  #card: string | null = null;
  #malformed = 0;

  get malformed(): number {
    return this.#malformed;
  }

  take(line: string): void {
    if (!line.includes("NVRM:")) return;
    const xid = xidLine.exec(line);
    const card = cardLine.exec(line)?.[1];
    if (xid?.[1] !== undefined && xid[2] !== undefined) this.#note(xid[1], Number(xid[2]), line);
    else if (/NVRM: Xid\b/.test(line)) this.#malformed += 1;
    else if (fellOff.test(line)) {
      const lost = card ?? this.#card;
      if (lost !== null) this.#note(lost, lostXid, line);
      this.#card = null;
    } else if (card !== undefined) this.#card = card;
  }

  of(pciBusId: string): GpuFault[] {
    return [...this.#events.values()]
      .filter(({ busId }) => isSameBusId(busId, pciBusId))
      .map(({ number, evidence }) => ({ kind: "xid", number, evidence }));
  }

  busIds(): string[] {
    return [...this.#events.values()].map(({ busId }) => busId);
  }

  #note(busId: string, number: number, line: string): void {
    const evidence = line.trim().slice(0, longestEvidence);
    this.#events.set(`${busId.toLowerCase()} ${number}`, { busId, number, evidence });
  }
}

/**
 * The kernel log at a path: `/dev/kmsg`, whose ring holds this boot's messages, or a file that grows, for tests. A
 * restart of the agent reads it from its beginning again, so it launders nothing.
 *
 * @returns null when it may not be read (it takes CAP_SYSLOG, or root): then Xids are unknown, which is not "none"
 */
export function openKernelLog(path: string): (KernelLog & { close(): void }) | null {
  const fd = openOrNull(path);
  if (fd === null) return null;
  const reader = new XidReader();
  const buffer = Buffer.alloc(recordBytes);
  const seen = new Set<string>();
  let rest = "";
  return {
    read() {
      for (let records = 0; records < recordsAtOnce; records += 1) {
        const bytes = readRecord(fd, buffer);
        if (bytes === "overwritten") continue;
        if (bytes === "end") return;
        const lines = (rest + bytes).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) reader.take(messageOf(line));
      }
    },
    faultsOf(pciBusId) {
      if (pciBusId === null) return [];
      seen.add(pciBusId);
      return reader.of(pciBusId);
    },
    get strange() {
      const unknownCards = reader.busIds().filter((busId) => ![...seen].some((known) => isSameBusId(known, busId)));
      return { unknownCards, malformed: reader.malformed };
    },
    close: () => closeSync(fd),
  };
}

function openOrNull(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "EACCES", "EPERM"].includes(String(error.code))) {
      return null;
    }
    throw error;
  }
}

function readRecord(fd: number, buffer: Buffer): string | "overwritten" | "end" {
  try {
    const length = readSync(fd, buffer, 0, buffer.length, null);
    return length === 0 ? "end" : buffer.toString("utf8", 0, length);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EAGAIN" || code === "EPERM") return "end";
    // The ring went round between two reads: the next one is of what is there now.
    if (code === "EPIPE") return "overwritten";
    throw error;
  }
}

/** `6,1234,5678,-;message` of /dev/kmsg, or a line as it is. */
function messageOf(line: string): string {
  const match = /^\d+,\d+,\d+,[^;]*;(.*)$/.exec(line);
  return match?.[1] ?? line;
}
