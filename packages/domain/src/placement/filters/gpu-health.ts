import { reason } from "../../reasons/reason.ts";
import { gpuLabel } from "../context.ts";
import type { GpuRule } from "./rule.ts";

/** Missing, reported by another node first, or not schedulable by its health. A degraded GPU passes and scores lower. */
export const gpuHealth: GpuRule = (gpu, node, { gpuOwners }) => {
  const label = gpuLabel(node, gpu);
  if (gpu.missingSinceMs !== null) return reason("gpu_missing", { gpu: label, sinceMs: gpu.missingSinceMs });
  const owner = gpuOwners.get(gpu.uuid);
  if (owner !== undefined && owner.id !== node.id) {
    return reason("gpu_duplicate", { gpu: label, holder: owner.name });
  }
  if (gpu.health.schedulable) return null;
  return gpu.health.reason ?? reason("gpu_unreadable", { gpu: label, what: "health" });
};
