import type { PlacementRecord, PlacementRule, Reason } from "@llmgw/domain";
import { gib } from "../data/format.ts";

/** The checks in the words of the matrix head. */
export const ruleWords: Readonly<Record<PlacementRule, string>> = {
  labels: "Labels",
  cordon: "Cordons",
  liveness: "Live",
  gpu_health: "Healthy",
  engine: "Engine",
  source: "Weights",
  gpu_count: "GPU count",
  same_type: "Same type",
  memory: "Memory",
};

/** A failed check for a narrow cell: the fact, and the number that decides. The whole sentence stands in the verdict. */
export interface ShortReason {
  readonly word: string;
  readonly detail: string;
}

export function shortReason(reason: Reason): ShortReason {
  switch (reason.code) {
    case "node_not_pinned":
    case "gpu_not_pinned":
      return { word: "not pinned", detail: "" };
    case "node_label_mismatch":
      return { word: `${reason.params.label}=${reason.params.found || "none"}`, detail: `needs ${reason.params.need}` };
    case "node_pool_mismatch":
      return { word: `pool ${reason.params.found || "none"}`, detail: `needs ${reason.params.need || "none"}` };
    case "node_cordoned":
    case "gpu_cordoned":
      return { word: "cordoned", detail: reason.params.by };
    case "node_draining":
      return { word: "draining", detail: reason.params.by };
    case "node_excluded":
      return { word: "left out", detail: "by this question" };
    case "node_suspect":
      return { word: "silent", detail: `${Math.round(reason.params.silentMs / 1000)} s` };
    case "node_lost":
      return { word: "lost", detail: `${Math.round(reason.params.silentMs / 1000)} s` };
    case "node_never_seen":
      return { word: "never seen", detail: "" };
    case "engine_not_runnable":
      return { word: `no ${reason.params.engine}`, detail: reason.params.found };
    case "source_absent":
      return { word: "absent", detail: "" };
    case "too_few_gpus":
    case "too_few_free_gpus":
      return { word: `${reason.params.found} of ${reason.params.need}`, detail: "GPUs" };
    case "gpu_types_differ":
      return { word: "types differ", detail: `needs ${reason.params.need} alike` };
    case "gpu_memory_short":
      return {
        word: `${gib(reason.params.needMib - reason.params.freeMib)} short`,
        detail: `${gib(reason.params.freeMib)} free`,
      };
    case "gpu_memory_unknown":
      return { word: "unreadable", detail: "" };
    case "gpu_held":
      return { word: "held", detail: reason.params.heldBy };
    case "gpu_xid":
      return { word: `Xid ${reason.params.xid}`, detail: reason.params.meaning };
    case "gpu_ecc":
      return { word: "ECC errors", detail: String(reason.params.errors) };
    case "gpu_missing":
      return { word: "missing", detail: "" };
    case "gpu_lost":
      return { word: "lost", detail: "" };
    case "gpu_unreadable":
      return { word: "unreadable", detail: reason.params.what };
    default:
      return { word: "no", detail: "" };
  }
}

/** Of the nodes, how many are left after each check, in the order of the checks. */
export function funnelOf(
  record: PlacementRecord,
  rules: readonly PlacementRule[],
): readonly { readonly rule: PlacementRule; readonly before: number; readonly after: number }[] {
  const total = record.candidates.length;
  let before = total;
  return rules.map((rule, position) => {
    const after = record.candidates.filter(
      ({ firstFailed }) => firstFailed === null || rules.indexOf(firstFailed) > position,
    ).length;
    const step = { rule, before, after };
    before = after;
    return step;
  });
}
