import type { Reason } from "../reasons/reason.ts";
import type { Reading } from "./reading.ts";

export type GpuVendor = "nvidia" | "amd" | "apple" | "cpu";

/** What the driver or the kernel log said went wrong, with the line that said so. */
export type GpuFault =
  | { readonly kind: "xid"; readonly number: number; readonly evidence: string }
  | { readonly kind: "lost"; readonly evidence: string }
  | { readonly kind: "recovery_action"; readonly action: string; readonly evidence: string }
  | { readonly kind: "unreadable"; readonly evidence: string };

/** A process that holds memory of a GPU. `shard` is the shard (`<replica>/<rank>`) it belongs to, null if not ours. */
export interface GpuProcess {
  readonly pid: number;
  readonly usedMib: Reading;
  readonly shard: string | null;
}

/** One GPU as its agent saw it: facts only, no judgement. Identity is the UUID; the index may change over a reboot. */
export interface GpuFacts {
  readonly uuid: string;
  readonly index: number;
  readonly vendor: GpuVendor;
  readonly name: string;
  readonly pciBusId: string | null;
  readonly totalMib: Reading;
  readonly usedMib: Reading;
  readonly temperatureC: Reading;
  readonly utilizationRatio: Reading;
  readonly eccUncorrected: Reading;
  readonly migMode: "enabled" | "disabled" | "unsupported" | "unreadable";
  readonly faults: readonly GpuFault[];
  readonly processes: readonly GpuProcess[];
}

export type GpuHealthStatus = "healthy" | "degraded" | "unhealthy" | "unknown";

/** The verdict over a GPU's facts, with the evidence it rests on. Kept by (UUID, boot id): restarts launder nothing. */
export interface GpuHealth {
  readonly status: GpuHealthStatus;
  readonly reason: Reason | null;
  readonly evidence: string | null;
  readonly sinceMs: number;
  readonly bootId: string;
  /** May new work be placed on it. */
  readonly schedulable: boolean;
  /** `move`: what runs on it is moved away, as by a drain owned by health. */
  readonly evict: "none" | "move";
}

/** A GPU of the inventory. Inventory is sticky: one that was there and is not reported any more is *missing*. */
export interface Gpu extends GpuFacts {
  readonly nodeId: string;
  /** The index it had before a reorder, for `#0 (was #1)`. */
  readonly previousIndex: number | null;
  readonly missingSinceMs: number | null;
  readonly health: GpuHealth;
}
