import { describe, expect, it } from "vitest";
import type { LaunchRequest } from "../adapter.ts";
import { launchVllm } from "./launch.ts";

const request: LaunchRequest = {
  modelId: "qwen3-32b",
  aliases: ["gpt-4o-mini"],
  model: "Qwen/Qwen3-32B",
  extraArgs: [],
  apiKey: "sk-replica",
  host: "10.0.0.5",
  port: 18003,
  tp: 2,
  contextTokens: 32_768,
  memoryMibPerGpu: 70_000,
  gpus: [
    { uuid: "GPU-b", index: 3 },
    { uuid: "GPU-a", index: 1 },
  ],
};

describe("launchVllm", () => {
  it("names the model, the address, the served names and the tensor-parallel size", () => {
    expect(launchVllm(request).argv).toEqual([
      ...["vllm", "serve", "Qwen/Qwen3-32B", "--host", "10.0.0.5", "--port", "18003"],
      ...["--served-model-name", "qwen3-32b", "gpt-4o-mini", "--tensor-parallel-size", "2", "--max-model-len", "32768"],
    ]);
  });

  it("gives the GPUs as indices in PCI order", () => {
    expect(launchVllm(request).env).toMatchObject({ CUDA_DEVICE_ORDER: "PCI_BUS_ID", CUDA_VISIBLE_DEVICES: "3,1" });
  });

  it("keeps the key out of the command line", () => {
    const { argv, env } = launchVllm(request);
    expect(argv.join(" ")).not.toContain("sk-replica");
    expect(env).toMatchObject({ VLLM_API_KEY: "sk-replica" });
  });

  it("puts an operator's arguments last, so that they win", () => {
    const { argv } = launchVllm({ ...request, extraArgs: ["--max-model-len", "8192", "--enforce-eager"] });
    expect(argv.slice(-3)).toEqual(["--max-model-len", "8192", "--enforce-eager"]);
  });

  it("drops an operator's arguments that would make it another shard", () => {
    const extraArgs = ["--port", "1", "--served-model-name", "x", "y", "--host=0.0.0.0", "-tp", "8", "--seed", "-1"];
    const { argv } = launchVllm({ ...request, contextTokens: null, extraArgs });
    expect(argv.slice(argv.indexOf("--tensor-parallel-size"))).toEqual(["--tensor-parallel-size", "2", "--seed", "-1"]);
  });
});
