import type { ModelManifest } from "@llmgw/wire";

/** The demo: a simulated chat model, small enough that each simulated node could hold it. */
export const demoModel = {
  apiVersion: "llmgw/v1",
  kind: "Model",
  id: "demo-8b",
  aliases: ["demo"],
  source: { hub: "llmgw/demo-8b" },
  engine: { name: "sim", args: ["--sim-load-ms", "1500", "--sim-itl-ms", "30"] },
  replicas: 2,
  resources: { memoryPerGpu: "40GiB", context: 8192, tp: 1 },
} satisfies ModelManifest;
