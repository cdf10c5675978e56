import { reason } from "../../reasons/reason.ts";
import { gpuLabel, tenantsOf } from "../context.ts";
import { gpuFreeMib, gpuHolders, holderNames } from "../free-memory.ts";
import type { GpuRule } from "./rule.ts";

/**
 * Enough free memory on one GPU, and nobody on it unless this model and every tenant share. A sum over several GPUs
 * never counts; what the driver does not say is a rejection of its own, not 0.
 */
export const gpuMemory: GpuRule = (gpu, node, context) => {
  const { model, settings } = context;
  const tenants = tenantsOf(context, gpu);
  const label = gpuLabel(node, gpu);
  if (tenants.length > 0 && !(model.spec.resources.shareGpu && tenants.every((tenant) => tenant.shareGpu))) {
    return reason("gpu_held", { gpu: label, heldBy: tenants.map((tenant) => tenant.shard).join(", ") });
  }
  const free = gpuFreeMib(gpu, tenants, settings.reserveMibPerGpu);
  if (free.kind === "unknown") return reason("gpu_memory_unknown", { gpu: label, found: free.found });
  const needMib = model.spec.resources.memoryPerGpuMib;
  if (free.freeMib >= needMib) return null;
  const heldBy = holderNames(gpuHolders(gpu, tenants, settings.reserveMibPerGpu));
  return reason("gpu_memory_short", { gpu: label, freeMib: free.freeMib, needMib, heldBy });
};
