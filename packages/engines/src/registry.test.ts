import { describe, expect, it } from "vitest";
import type { LaunchRequest } from "./adapter.ts";
import { listedModels } from "./listed-models.ts";
import { createEngineRegistry } from "./registry.ts";

const simulator = { command: ["node", "sim.ts"] as const, claimsDir: "/data/claims" };
const request: LaunchRequest = {
  modelId: "demo",
  aliases: [],
  model: "demo/model",
  extraArgs: ["--sim-load-ms", "50"],
  apiKey: "sk-1",
  host: "127.0.0.1",
  port: 18000,
  tp: 1,
  contextTokens: null,
  memoryMibPerGpu: 1000,
  gpus: [{ uuid: "SIM-1", index: 0 }],
};

describe("createEngineRegistry", () => {
  it("never mixes simulated and real engines", () => {
    expect([...createEngineRegistry(simulator).keys()]).toEqual(["sim"]);
    expect([...createEngineRegistry(null).keys()]).toEqual(["vllm"]);
  });
});

describe("the simulator's launch line", () => {
  const adapter = createEngineRegistry(simulator).get("sim");

  it("is a real vLLM line with the claim on its GPUs, an operator's arguments last", () => {
    expect(adapter?.launch(request).argv).toEqual([
      ...["node", "sim.ts", "--dialect", "vllm", "serve", "demo/model", "--host", "127.0.0.1", "--port", "18000"],
      ...["--served-model-name", "demo", "--tensor-parallel-size", "1", "--sim-claims-dir", "/data/claims"],
      ...["--sim-gpus", "SIM-1", "--sim-vram-mib", "1000", "--sim-load-ms", "50"],
    ]);
  });

  it("claims nothing without GPUs", () => {
    expect(adapter?.launch({ ...request, gpus: [] }).argv).not.toContain("--sim-claims-dir");
  });
});

describe("listedModels", () => {
  it("reads ids and refuses what is no list of models", () => {
    expect(listedModels({ object: "list", data: [{ id: "a" }, { id: "b", parent: "a" }] })).toEqual(["a", "b"]);
    expect(listedModels({ error: { message: "no" } })).toBeNull();
    expect(listedModels(null)).toBeNull();
  });
});
