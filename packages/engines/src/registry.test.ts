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
  pp: 1,
  group: null,
  isPath: false,
  privateDir: "/data/private",
  contextTokens: null,
  memoryMibPerGpu: 1000,
  gpus: [{ uuid: "SIM-1", index: 0, vendor: "nvidia" }],
};

describe("createEngineRegistry", () => {
  it("never mixes simulated and real engines", () => {
    expect([...createEngineRegistry(null).values()].map(({ name, program }) => [name, program?.name])).toEqual([
      ["vllm", "vllm"],
      ["sglang", "sglang"],
      ["llamacpp", "llama-server"],
    ]);
    expect([...createEngineRegistry(simulator).values()].map(({ name, program }) => [name, program])).toEqual([
      ["sim", null],
      ["vllm", null],
      ["sglang", null],
      ["llamacpp", null],
    ]);
  });
});

describe("the simulator's launch line", () => {
  const registry = createEngineRegistry(simulator);

  it.each([
    ["sim", "vllm serve demo/model"],
    ["vllm", "vllm serve demo/model"],
    ["sglang", "sglang serve --model-path demo/model"],
    ["llamacpp", "llamacpp llama-server -hf demo/model"],
  ] as const)("for %s is the real engine's, in its dialect, with a claim on its GPUs", (name, words) => {
    const argv = registry.get(name)?.launch(request).argv.join(" ") ?? "";
    expect(argv).toContain(`node sim.ts --dialect ${words}`);
    expect(argv).toContain("--sim-load-ms 50");
    expect(argv).toContain("--sim-claims-dir /data/claims --sim-gpus SIM-1 --sim-vram-mib 1000");
  });

  it("claims nothing without GPUs", () => {
    expect(registry.get("sim")?.launch({ ...request, gpus: [] }).argv).not.toContain("--sim-claims-dir");
  });
});

describe("listedModels", () => {
  it("reads ids and refuses what is no list of models", () => {
    expect(listedModels({ object: "list", data: [{ id: "a" }, { id: "b", parent: "a" }] })).toEqual(["a", "b"]);
    expect(listedModels({ error: { message: "no" } })).toBeNull();
    expect(listedModels(null)).toBeNull();
  });
});
