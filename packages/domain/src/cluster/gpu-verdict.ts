import { type Reason, reason } from "../reasons/reason.ts";
import type { GpuFacts, GpuFault, GpuHealth, GpuHealthStatus } from "./gpu.ts";
import { judgeXid, type XidTable, xidTable } from "./xid-table.ts";

export interface GpuQuestion {
  readonly facts: GpuFacts;
  /** The verdict so far; null for a GPU never seen. */
  readonly previous: GpuHealth | null;
  /** The machine's present boot. */
  readonly bootId: string;
  readonly nowMs: number;
  /** Which Xid means what; the default follows NVIDIA's catalogue. */
  readonly xids?: XidTable;
}

/** One thing that is wrong, and what it entails. */
interface Finding {
  readonly status: GpuHealthStatus;
  readonly schedulable: boolean;
  readonly evict: "none" | "move";
  readonly reason: Reason;
  readonly evidence: string | null;
}

/**
 * Judges a GPU from its facts and from what was known of it in this boot. The worst finding decides: lost, then
 * whatever moves work away, then whatever keeps new work away, then warnings; at the same rank a new fault before one
 * that still stands.
 *
 * An Xid and a lost device are events: gone from the facts after an agent's restart, they still stand until the machine
 * has a new boot id. ECC counts and the recovery action are states of the driver: they stand until the driver itself
 * says 0, or "None"; its silence is not an all-clear. MIG and unreadable values follow each probe.
 */
export function judgeGpu({ facts, previous, bootId, nowMs, xids = xidTable }: GpuQuestion): GpuHealth {
  const kept = previous !== null && previous.bootId === bootId ? stillStanding(previous, facts, xids) : null;
  const findings = [...faultFindings(facts, xids), ...(kept === null ? [] : [kept]), ...stateFindings(facts)];
  const worst = findings.reduce<Finding | null>((a, b) => (a === null || rank(b) > rank(a) ? b : a), null);
  const verdict = worst ?? healthy;
  const same =
    previous !== null && previous.status === verdict.status && previous.reason?.code === verdict.reason?.code;
  return { ...verdict, sinceMs: same ? previous.sinceMs : nowMs, bootId };
}

export interface MissingGpuQuestion {
  readonly index: number;
  readonly previous: GpuHealth | null;
  readonly bootId: string;
  readonly missingSinceMs: number;
}

/**
 * The verdict over a GPU of the inventory that its node does not report any more. It ends when it is reported again,
 * except that a fault of this boot which keeps work away stays the verdict, so that vanishing for a moment clears
 * nothing.
 */
export function judgeMissingGpu({ index, previous, bootId, missingSinceMs }: MissingGpuQuestion): GpuHealth {
  const code = previous?.reason?.code;
  const stands = code === "gpu_xid" || code === "gpu_lost" || code === "gpu_ecc" || code === "gpu_recovery";
  if (previous !== null && previous.bootId === bootId && !previous.schedulable && stands) {
    return { ...previous, evict: "move" };
  }
  return {
    ...outcomes.evict,
    reason: reason("gpu_missing", { gpu: `GPU ${index}`, sinceMs: missingSinceMs }),
    evidence: null,
    sinceMs: missingSinceMs,
    bootId,
  };
}

const healthy = {
  status: "healthy",
  schedulable: true,
  evict: "none",
  reason: null,
  evidence: null,
} as const satisfies Omit<GpuHealth, "sinceMs" | "bootId">;

const outcomes = {
  warn: { status: "degraded", schedulable: true, evict: "none" },
  exclude: { status: "unhealthy", schedulable: false, evict: "none" },
  evict: { status: "unhealthy", schedulable: false, evict: "move" },
  unknown: { status: "unknown", schedulable: false, evict: "none" },
} as const satisfies Readonly<Record<string, Omit<Finding, "reason" | "evidence">>>;

/** NVML's words for "do nothing" (`None`) and for "this driver has no such field". */
const noAction: ReadonlySet<string> = new Set(["none", "n/a", "[n/a]", "not supported", "[not supported]", ""]);

/** NVML's `nvmlDeviceGpuRecoveryAction`: Reset, Reboot, Drain P2P, Drain and Reset, Recover IMEX domain. */
const actionWords = /\b(reset|reboot|drain|recover)\b/i;

function faultFindings(facts: GpuFacts, xids: XidTable): readonly Finding[] {
  return facts.faults.flatMap((fault) => faultFinding(fault, facts, xids) ?? []);
}

function faultFinding(fault: GpuFault, facts: GpuFacts, xids: XidTable): Finding | null {
  const gpu = gpuName(facts);
  const { evidence } = fault;
  switch (fault.kind) {
    case "lost":
      return { ...outcomes.evict, reason: reason("gpu_lost", { gpu }), evidence };
    case "unreadable":
      return { ...outcomes.unknown, reason: reason("gpu_unreadable", { gpu, what: evidence }), evidence };
    case "recovery_action": {
      if (noAction.has(fault.action.trim().toLowerCase())) return null;
      const outcome = actionWords.test(fault.action) ? outcomes.exclude : outcomes.warn;
      return { ...outcome, reason: reason("gpu_recovery", { gpu, action: fault.action }), evidence };
    }
    case "xid": {
      const { meaning, verdict } = judgeXid(xids, fault);
      if (verdict === "application") return null;
      return { ...outcomes[verdict], reason: reason("gpu_xid", { gpu, xid: fault.number, meaning }), evidence };
    }
  }
}

function stateFindings(facts: GpuFacts): readonly Finding[] {
  const gpu = gpuName(facts);
  const findings: Finding[] = [];
  const unreadable = (what: string, outcome: Omit<Finding, "reason" | "evidence">): void => {
    findings.push({ ...outcome, reason: reason("gpu_unreadable", { gpu, what }), evidence: null });
  };
  if (facts.totalMib === "unreadable") unreadable("total memory", outcomes.unknown);
  else if (facts.usedMib === "unreadable") unreadable("used memory", outcomes.unknown);
  if (facts.migMode === "enabled") {
    findings.push({ ...outcomes.exclude, reason: reason("gpu_mig_enabled", { gpu }), evidence: null });
  } else if (facts.migMode === "unreadable") unreadable("MIG mode", outcomes.unknown);
  const errors = facts.eccUncorrected;
  if (typeof errors === "number" && errors > 0) {
    findings.push({ ...outcomes.exclude, reason: reason("gpu_ecc", { gpu, errors }), evidence: null });
  } else if (errors === "unreadable") unreadable("ECC error count", outcomes.warn);
  return findings;
}

/** What was found earlier in this boot and nothing has taken back, with the index and the Xid table of now. */
function stillStanding(previous: GpuHealth, facts: GpuFacts, xids: XidTable): Finding | null {
  const was = previous.reason;
  if (was === null) return null;
  const gpu = gpuName(facts);
  const finding = (again: Reason): Finding => ({
    status: previous.status,
    schedulable: previous.schedulable,
    evict: previous.evict,
    evidence: previous.evidence,
    reason: again,
  });
  switch (was.code) {
    case "gpu_xid": {
      const fault = { kind: "xid", number: was.params.xid, evidence: previous.evidence ?? "" } as const;
      const again = faultFinding(fault, facts, xids);
      return again === null ? null : { ...again, evict: previous.evict === "move" ? "move" : again.evict };
    }
    case "gpu_lost":
      return finding(reason("gpu_lost", { gpu }));
    case "gpu_ecc":
      return typeof facts.eccUncorrected === "number" ? null : finding(reason("gpu_ecc", { ...was.params, gpu }));
    case "gpu_recovery": {
      const saidNow = facts.faults.some((fault) => fault.kind === "recovery_action");
      return saidNow ? null : finding(reason("gpu_recovery", { ...was.params, gpu }));
    }
    default:
      return null;
  }
}

/** Worse is higher.  */
function rank(finding: Finding): number {
  if (finding.reason.code === "gpu_lost") return 4;
  if (finding.evict === "move") return 3;
  if (finding.status === "unhealthy") return 2;
  return finding.schedulable ? 0 : 1;
}

const gpuName = (facts: Pick<GpuFacts, "index">): string => `GPU ${facts.index}`;
