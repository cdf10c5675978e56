/**
 * What an Xid says about its card.
 * `application`: the application's doing, the card is fine. `warn`: shown, and the card is chosen last. `exclude`:
 * nothing new is placed, what runs stays. `evict`: what runs is moved away too. `nvlink5`: the line itself says whether
 * it was fatal (`evict`) or not (`warn`).
 */
export type XidVerdict = "application" | "warn" | "exclude" | "evict" | "nvlink5";

export interface XidEntry {
  readonly meaning: string;
  readonly verdict: XidVerdict;
}

export type XidTable = ReadonlyMap<number, XidEntry>;

const application = (meaning: string): XidEntry => ({ meaning, verdict: "application" });
const warn = (meaning: string): XidEntry => ({ meaning, verdict: "warn" });
const evict = (meaning: string): XidEntry => ({ meaning, verdict: "evict" });
const nvlink5: XidEntry = { meaning: "NVLink 5 error", verdict: "nvlink5" };

/** After NVIDIA's Xid catalogue of October 2025 and its immediate actions; a number not in it is a warning. */
export const xidTable: XidTable = new Map([
  [8, warn("a channel timed out")],
  [13, application("graphics engine exception")],
  [31, application("memory page fault")],
  [43, application("the GPU stopped processing")],
  [45, application("preemptive cleanup after earlier errors")],
  [48, evict("double-bit ECC error")],
  [61, evict("internal micro-controller breakpoint")],
  [62, evict("internal micro-controller halt")],
  [63, warn("a row remap or page retirement was recorded")],
  [64, evict("a row remap or page retirement failed")],
  [69, application("graphics engine class error")],
  [74, { meaning: "NVLink error", verdict: "exclude" }],
  [79, evict("the GPU has fallen off the bus")],
  [92, warn("high rate of single-bit ECC errors")],
  [94, warn("contained memory error, only its application is affected")],
  [95, evict("uncontained memory error")],
  [109, evict("context switch timeout")],
  [110, evict("security fault")],
  [119, evict("timeout of the GPU system processor")],
  [120, evict("error of the GPU system processor")],
  [121, warn("chip-to-chip link error")],
  [136, evict("link training failed")],
  [137, warn("NVLink privilege error")],
  [140, evict("unrecovered ECC error")],
  [143, evict("the GPU failed to initialise")],
  [144, nvlink5],
  [145, nvlink5],
  [146, nvlink5],
  [147, nvlink5],
  [148, nvlink5],
  [149, nvlink5],
  [150, nvlink5],
  [154, application("the recovery action changed; the driver's own word on it counts")],
  [155, evict("NVLink software-defined error")],
  [156, evict("resource retirement")],
  [157, warn("resource retirement failed")],
  [158, evict("fatal timeout")],
  [160, warn("a channel was retired")],
  [161, warn("a channel retirement failed")],
  [171, evict("uncorrectable DRAM error")],
  [172, evict("uncorrectable SRAM error")],
]);

/** The table with some numbers judged otherwise, as an operator's settings may say. */
export function xidTableWith(overrides: Readonly<Record<number, XidVerdict>>): XidTable {
  const table = new Map(xidTable);
  for (const [key, verdict] of Object.entries(overrides)) {
    const number = Number(key);
    table.set(number, { meaning: table.get(number)?.meaning ?? "not in the catalogue", verdict });
  }
  return table;
}

/** How one Xid line is to be taken, with `nvlink5` resolved from its text. A number not in the table is a warning. */
export function judgeXid(
  table: XidTable,
  fault: { readonly number: number; readonly evidence: string },
): { readonly meaning: string; readonly verdict: Exclude<XidVerdict, "nvlink5"> } {
  const entry = table.get(fault.number);
  if (entry === undefined) return { meaning: "not in the catalogue", verdict: "warn" };
  if (entry.verdict !== "nvlink5") return { meaning: entry.meaning, verdict: entry.verdict };
  return { meaning: entry.meaning, verdict: /\bfatal\b/i.test(fault.evidence) ? "evict" : "warn" };
}
