import type { GpuView, NodeView } from "@llmgw/api";
import { describeReason } from "@llmgw/domain";
import type { StateWord } from "./states.tsx";

const health: Readonly<Record<GpuView["health"]["status"], StateWord>> = {
  healthy: { state: "healthy", word: "Healthy" },
  degraded: { state: "degraded", word: "Degraded" },
  unhealthy: { state: "unhealthy", word: "Unhealthy" },
  unknown: { state: "unknown", word: "Unknown" },
};

export function healthOf(gpu: GpuView): StateWord {
  return gpu.missingSince === null ? health[gpu.health.status] : { state: "unhealthy", word: "Missing" };
}

export function gpuCordonOf(node: Pick<NodeView, "cordons">, gpu: Pick<GpuView, "uuid">) {
  return node.cordons.find((cordon) => cordon.gpuUuid === gpu.uuid) ?? null;
}

/** What its tile shows: bad health before a cordon, a cordon before good health. */
export function gpuStateOf(node: Pick<NodeView, "cordons">, gpu: GpuView): StateWord {
  const own = healthOf(gpu);
  if (own.state === "unhealthy" || own.state === "unknown") return own;
  if (gpuCordonOf(node, gpu) !== null) return { state: "cordoned", word: "Cordoned" };
  return own;
}

export function gpuName(gpu: Pick<GpuView, "index" | "previousIndex">): string {
  return gpu.previousIndex === null ? `GPU ${gpu.index}` : `GPU ${gpu.index} (was ${gpu.previousIndex})`;
}

/** A reason as a sentence without its stop, begun with a capital unless it begins with a name. */
export function sentence(reason: Parameters<typeof describeReason>[0]): string {
  const words = describeReason(reason);
  const first = words.split(" ", 1)[0] ?? "";
  return /^[a-z]+$/.test(first) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
}

/** Why a GPU takes no new work, as a sentence; null when it does. */
export function exclusionOf(gpu: GpuView): string | null {
  if (gpu.schedulable) return null;
  const reason = gpu.excludedBy ?? gpu.health.reason;
  return reason === null ? "Takes no new work" : sentence(reason);
}

/** The same, short enough for a chip in a table. */
export function exclusionWord(node: Pick<NodeView, "cordons">, gpu: GpuView): string {
  const cordon = gpuCordonOf(node, gpu);
  const reason = gpu.excludedBy ?? gpu.health.reason;
  if (reason?.code === "gpu_xid") return `Xid ${reason.params.xid}`;
  if (reason?.code === "gpu_ecc") return `${reason.params.errors} uncorrectable ECC`;
  if (reason?.code === "gpu_unreadable") return `${reason.params.what} unreadable`;
  if (cordon !== null) return `${cordon.reason || "cordoned"}, ${cordon.by}`;
  return gpuStateOf(node, gpu).word.toLowerCase();
}
