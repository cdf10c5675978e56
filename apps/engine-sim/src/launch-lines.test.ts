import { createEngineRegistry, type LaunchRequest } from "@llmgw/engines";
import { describe, expect, it } from "vitest";
import { parseLlamaArguments } from "./dialects/llamacpp/arguments.ts";
import { parseWorkerArguments } from "./dialects/llamacpp/rpc-worker.ts";
import { parseSglangCommandLine } from "./dialects/sglang/command-line.ts";
import { parseVllmCommandLine } from "./dialects/vllm/command-line.ts";

/** Every real launch line, with the claim that a simulated node adds; a flag that an engine does not know fails here. */
const registry = createEngineRegistry({ command: ["sim"], claimsDir: "/claims" });
const ranks = [0, 1, 2].map((rank) => ({ address: `10.0.0.${rank + 1}`, port: 19_040 + rank }));
const gpus = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ uuid: `SIM-${index}`, index, vendor: "nvidia" as const }));

const alone: LaunchRequest = {
  ...{ modelId: "m", aliases: ["alias"], model: "org/model", isPath: false, extraArgs: [], apiKey: "sk-replica" },
  ...{ host: "10.0.0.1", port: 18_003, tp: 1, pp: 1, group: null, contextTokens: 8_192, memoryMibPerGpu: 70_000 },
  ...{ gpus: gpus(1), privateDir: "/private" },
};
const spanning = (rank: number, size: number): LaunchRequest => ({
  ...alone,
  ...{ tp: 8, pp: size, gpus: gpus(8), host: `10.0.0.${rank + 1}`, group: { rank, ranks: ranks.slice(0, size) } },
});

function lineOf(name: "vllm" | "sglang" | "llamacpp" | "sim", request: LaunchRequest): readonly string[] {
  const argv = registry.get(name)?.launch(request).argv ?? [];
  // What follows `sim --dialect NAME`.
  return argv.slice(3);
}

describe("the agent's launch lines", () => {
  it.each([
    ["alone", alone],
    ["over four GPUs", { ...alone, tp: 4, gpus: gpus(4) }],
    ["as rank 0 of two machines", spanning(0, 2)],
    ["as rank 1 of two machines", spanning(1, 2)],
  ] as const)("are vLLM's %s", (_, request) => {
    const line = parseVllmCommandLine(lineOf("vllm", request), { apiKey: "sk", faults: undefined });
    expect(line.kind).toBe("serve");
    const nodes = request.group === null ? { count: 1 } : { count: 2, rank: request.group.rank, masterPort: 19_040 };
    expect(line).toMatchObject({ settings: { servedNames: ["m", "alias"], tensorParallelSize: request.tp, nodes } });
  });

  it.each([
    ["alone", alone],
    ["as rank 0 of two machines", spanning(0, 2)],
    ["as rank 1 of two machines", spanning(1, 2)],
  ] as const)("are SGLang's %s", (_, request) => {
    const readFile = () => 'api-key: "sk-replica"\n';
    const line = parseSglangCommandLine(lineOf("sglang", request), { faults: undefined, readFile });
    expect(line.kind).toBe("serve");
    expect(line).toMatchObject({ settings: { apiKeys: ["sk-replica"], servedNames: ["m"], logStats: true } });
    if (request.group !== null) {
      const nodes = { count: 2, rank: request.group.rank, masterAddress: "10.0.0.1", masterPort: 19_040 };
      expect(line).toMatchObject({ settings: { nodes, pipelineParallelSize: 2 } });
    }
  });

  it("are llama.cpp's, alone and with two workers", () => {
    const [program, ...words] = lineOf("llamacpp", alone);
    expect(program).toBe("llama-server");
    const environment = { apiKey: "sk-replica", faults: undefined };
    expect(parseLlamaArguments(words, environment)).toMatchObject({
      settings: { alias: "m", apiKey: "sk-replica", metrics: true, parallel: 4, unified: false, slotContext: 8_192 },
    });
    const head = parseLlamaArguments(lineOf("llamacpp", spanning(0, 3)).slice(1), environment);
    expect(head).toMatchObject({
      settings: {
        workers: [
          { host: "10.0.0.2", port: 19_041 },
          { host: "10.0.0.3", port: 19_042 },
        ],
      },
    });
    const [worker, ...workerWords] = lineOf("llamacpp", spanning(2, 3));
    expect(worker).toBe("ggml-rpc-server");
    expect(parseWorkerArguments(workerWords)).toEqual({ kind: "serve", host: "10.0.0.3", port: 19_042 });
  });

  it("of the simulator are vLLM's", () => {
    const line = parseVllmCommandLine(lineOf("sim", alone), { apiKey: "sk", faults: undefined });
    expect(line).toMatchObject({ kind: "serve", settings: { sim: { claim: { mibPerGpu: 70_000 } } } });
  });
});
