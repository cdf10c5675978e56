import type { ModelManifest } from "@llmgw/wire";

/** A simulated one-GPU model that loads in 3 s and makes a token each 50 ms. */
export const oneGpuModel = {
  id: "m1",
  source: { hub: "llmgw/m1" },
  engine: { name: "sim", args: ["--sim-load-ms", "3000", "--sim-itl-ms", "50", "--max-num-seqs", "256"] },
  replicas: 1,
  resources: { memoryPerGpu: "70GiB", context: 8192, tp: 1 },
} satisfies ModelManifest;

/** As above over two GPUs of one node. */
export const twoGpuModel = {
  ...oneGpuModel,
  id: "m2",
  resources: { memoryPerGpu: "70GiB", context: 8192, tp: 2 },
} satisfies ModelManifest;
