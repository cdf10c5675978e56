import type { GpuFacts, Reading } from "@llmgw/domain";
import { adviceOf, readMigMode, readNumber } from "./parse-nvidia-smi.ts";

/**
 * Reads `nvidia-smi -q -x`. The report is written by one program, in one shape, so a reader of its own elements is
 * enough: no attributes but the id, no mixed text, no entities in what is read.
 */
export function parseNvidiaXml(xml: string): GpuFacts[] {
  return [...xml.matchAll(/<gpu id="([^"]*)">([\s\S]*?)<\/gpu>/g)].flatMap(([, busId, body = ""], index) => {
    const uuid = valueAt(body, ["uuid"]);
    if (uuid === undefined || !/^GPU-[0-9a-f-]{36}$/i.test(uuid)) return [];
    const totalMib = amountAt(body, ["fb_memory_usage", "total"]);
    const usedMib = amountAt(body, ["fb_memory_usage", "used"]);
    const percent = amountAt(body, ["utilization", "gpu_util"]);
    const isUnreadable = totalMib === "unreadable" || usedMib === "unreadable";
    const facts: GpuFacts = {
      uuid,
      index: Number(valueAt(body, ["minor_number"]) ?? index),
      vendor: "nvidia",
      name: valueAt(body, ["product_name"]) ?? "unknown",
      pciBusId: busId ?? null,
      totalMib,
      usedMib,
      temperatureC: amountAt(body, ["temperature", "gpu_temp"]),
      utilizationRatio: typeof percent === "number" ? percent / 100 : percent,
      eccUncorrected: eccOf(body),
      migMode: readMigMode(valueAt(body, ["mig_mode", "current_mig"]) ?? "[N/A]"),
      faults: [
        ...(isUnreadable ? [{ kind: "unreadable", evidence: "fb_memory_usage cannot be read" } as const] : []),
        ...adviceOf((field) => {
          const path = advicePaths[field];
          return path === undefined ? undefined : valueAt(body, path);
        }),
      ],
      processes: [],
    };
    return [facts];
  });
}

const advicePaths: Readonly<Record<string, readonly string[]>> = {
  gpu_recovery_action: ["gpu_recovery_action"],
  "remapped_rows.pending": ["remapped_rows", "remapped_row_pending"],
  "remapped_rows.failure": ["remapped_rows", "remapped_row_failure"],
  "retired_pages.pending": ["retired_pages", "pending_retirement"],
  compute_mode: ["compute_mode"],
};

/** Uncorrectable errors since the last reset: one total, or SRAM and DRAM apart. */
function eccOf(body: string): Reading {
  const volatile = elementOf(body, ["ecc_errors", "volatile"]);
  if (volatile === undefined) return "unsupported";
  const counts = ["total", "sram_uncorrectable", "dram_uncorrectable"].flatMap((name) => {
    const value = valueAt(volatile, [name]);
    return value === undefined ? [] : [readNumber(value)];
  });
  const numbers = counts.filter((count) => typeof count === "number");
  if (numbers.length > 0) return numbers.reduce((sum, count) => sum + count, 0);
  return counts.includes("unreadable") ? "unreadable" : "unsupported";
}

/** A value with its unit ("81559 MiB", "52 C", "[N/A]"), as a number. */
function amountAt(body: string, path: readonly string[]): Reading {
  const text = valueAt(body, path);
  return text === undefined ? "unsupported" : readNumber(text.replace(/\s+(?:MiB|C|%)$/, ""));
}

function valueAt(body: string, path: readonly string[]): string | undefined {
  return elementOf(body, path)?.trim();
}

function elementOf(body: string, path: readonly string[]): string | undefined {
  let inner: string | undefined = body;
  for (const name of path) {
    inner = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(inner ?? "")?.[1];
    if (inner === undefined) return undefined;
  }
  return inner;
}
