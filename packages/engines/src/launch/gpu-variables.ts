import type { LaunchGpu } from "../adapter.ts";

/**
 * Which GPUs a process sees. CUDA orders them "fastest first" unless told otherwise; ours is the driver's order. A
 * process without GPUs must not find any either. AMD's runtime takes indices only.
 *
 * @param by `index` for engines that read each entry as a number (vLLM), `uuid` for the others: a UUID stays right
 *   when the driver numbers its cards anew.
 */
export function gpuVariables(gpus: readonly LaunchGpu[], by: "index" | "uuid"): Record<string, string> {
  if (gpus.some(({ vendor }) => vendor === "amd")) {
    return { HIP_VISIBLE_DEVICES: gpus.map(({ index }) => index).join(",") };
  }
  return {
    CUDA_DEVICE_ORDER: "PCI_BUS_ID",
    CUDA_VISIBLE_DEVICES: gpus.map((gpu) => (by === "index" ? gpu.index : gpu.uuid)).join(","),
  };
}
