import { describe, expect, it } from "vitest";
import type { LaunchGpu, LaunchRequest } from "../adapter.ts";
import { llamacppAdapter } from "../llamacpp/adapter.ts";
import { sglangAdapter } from "../sglang/adapter.ts";
import { vllmAdapter } from "../vllm/adapter.ts";

const gpus = (count: number): LaunchGpu[] =>
  Array.from({ length: count }, (_, index) => ({ uuid: `GPU-${index}`, index, vendor: "nvidia" }));

const alone: LaunchRequest = {
  modelId: "llama-8b",
  aliases: [],
  model: "meta-llama/Llama-3.1-8B-Instruct",
  isPath: false,
  extraArgs: [],
  apiKey: "sk-replica",
  host: "10.0.0.1",
  port: 18003,
  tp: 1,
  pp: 1,
  group: null,
  contextTokens: 32_768,
  memoryMibPerGpu: 70_000,
  gpus: gpus(1),
  privateDir: "/data/private",
};
const seventy = { ...alone, modelId: "llama-70b", model: "meta-llama/Llama-3.1-70B-Instruct", tp: 4, gpus: gpus(4) };
const nodes = [
  { address: "10.0.0.1", port: 19_040 },
  { address: "10.0.0.2", port: 19_041 },
  { address: "10.0.0.3", port: 19_042 },
];
const deepseek = (rank: number): LaunchRequest => ({
  ...alone,
  modelId: "deepseek-v3",
  model: "deepseek-ai/DeepSeek-V3",
  host: nodes[rank]?.address ?? "",
  tp: 8,
  pp: 2,
  gpus: gpus(8),
  contextTokens: null,
  group: { rank, ranks: nodes.slice(0, 2) },
});
const gguf = (rank: number): LaunchRequest => ({
  ...alone,
  modelId: "big-gguf",
  model: "/models/big-00001-of-00004.gguf",
  isPath: true,
  host: nodes[rank]?.address ?? "",
  contextTokens: 8_192,
  group: { rank, ranks: nodes },
});

/** Every word of a line with the reason why it stands there; together they are the whole line. */
type Reasoned = readonly (readonly [words: string, reason: string])[];
const words = (line: Reasoned) => line.flatMap(([text]) => text.split(" "));

describe("the launch line of Llama-3.1-8B on one GPU", () => {
  it("by vLLM", () => {
    expect(vllmAdapter.launch(alone).argv).toEqual(
      words([
        ["vllm serve meta-llama/Llama-3.1-8B-Instruct", "a hub repository, which vLLM downloads itself"],
        ["--host 10.0.0.1 --port 18003", "only the advertised address, and the port that the agent found free"],
        ["--served-model-name llama-8b", "clients and metrics know it by the model's id"],
        ["--tensor-parallel-size 1", "one GPU"],
        ["--max-model-len 32768", "the context that was asked for; vLLM reserves cache for at least one such request"],
        ["--disable-access-log-for-endpoints /metrics,/health", "our own looks would fill the log"],
      ]),
    );
  });

  it("by SGLang", () => {
    const line = sglangAdapter.launch(alone);
    expect(line.argv).toEqual(
      words([
        ["sglang serve --model-path meta-llama/Llama-3.1-8B-Instruct", "SGLang's own downloader too"],
        ["--host 10.0.0.1 --port 18003", "it would listen on 127.0.0.1:30000"],
        ["--served-model-name llama-8b", "the name under /v1/models, which readiness checks"],
        ["--tp-size 1", "the long form: --tp is only a prefix of it"],
        ["--context-length 32768", "what vLLM calls --max-model-len"],
        ["--enable-metrics", "without it /metrics is 404 and no drain could be proved"],
        ["--config /data/private/sglang.yaml", "holds the key: SGLang takes it from no variable, and argv is public"],
      ]),
    );
    expect(line.files).toEqual([{ path: "/data/private/sglang.yaml", text: 'api-key: "sk-replica"\n' }]);
  });

  it("by llama.cpp", () => {
    expect(llamacppAdapter.launch({ ...alone, model: "bartowski/Llama-3.1-8B-Instruct-GGUF:Q8_0" }).argv).toEqual(
      words([
        ["llama-server -hf bartowski/Llama-3.1-8B-Instruct-GGUF:Q8_0", "a GGUF repository of the hub"],
        ["--host 10.0.0.1 --port 18003", "versions differ in their default port"],
        ["-a llama-8b", "else /v1/models names the file"],
        ["--metrics", "without it /metrics is 501"],
        ["-fit off", "placement has decided: a shrunk context would be another model"],
        ["-ngl 999", "every layer on the GPU"],
        ["-c 131072", "the whole cache: four slots of 32768"],
        ["-np 4", "so many requests at once, each with a cache of its own"],
      ]),
    );
  });
});

describe("the launch line of a 70B model over four GPUs of a machine", () => {
  it("by vLLM gives the GPUs as indices in PCI order, as it reads each entry as a number", () => {
    const { argv, env } = vllmAdapter.launch(seventy);
    expect(argv).toContain("meta-llama/Llama-3.1-70B-Instruct");
    expect(argv.join(" ")).toContain("--tensor-parallel-size 4 --max-model-len");
    expect(argv).not.toContain("--pipeline-parallel-size");
    expect(env).toEqual({
      VLLM_API_KEY: "sk-replica",
      VLLM_HOST_IP: "10.0.0.1",
      CUDA_DEVICE_ORDER: "PCI_BUS_ID",
      CUDA_VISIBLE_DEVICES: "0,1,2,3",
    });
  });

  it("by SGLang gives them as UUIDs", () => {
    const { argv, env } = sglangAdapter.launch(seventy);
    expect(argv.join(" ")).toContain("--tp-size 4 --context-length");
    expect(env["CUDA_VISIBLE_DEVICES"]).toBe("GPU-0,GPU-1,GPU-2,GPU-3");
  });
});

describe("the launch lines of DeepSeek-V3 over two machines of eight GPUs", () => {
  const common: Reasoned = [
    ["--served-model-name deepseek-v3", "the same name on every rank"],
    ["--tensor-parallel-size 8", "within a machine, where NVLink is"],
    ["--pipeline-parallel-size 2", "between machines, which takes less of the network"],
    ["--nnodes 2", "machines of the replica"],
  ];
  const meeting: Reasoned = [
    ["--master-addr 10.0.0.1 --master-port 19040", "where the ranks meet: rank 0, on a port of the group's own"],
    ["--distributed-executor-backend mp", "processes of vLLM's own; Ray is not needed"],
  ];

  it("by vLLM: rank 0 serves, rank 1 is headless", () => {
    expect(vllmAdapter.launch(deepseek(0)).argv).toEqual(
      words([
        ["vllm serve deepseek-ai/DeepSeek-V3 --host 10.0.0.1 --port 18003", "the API server is rank 0's"],
        ...common,
        ["--node-rank 0", "the head"],
        ...meeting,
        ["--disable-access-log-for-endpoints /metrics,/health", "only the API server has an access log"],
      ]),
    );
    const follower = vllmAdapter.launch(deepseek(1));
    expect(follower.argv).toEqual(
      words([
        ["vllm serve deepseek-ai/DeepSeek-V3", "no address: it has no API server"],
        ...common,
        ["--node-rank 1", "its place"],
        ...meeting,
        ["--headless", "without it a second API server would start"],
      ]),
    );
    expect(follower.env).toMatchObject({ VLLM_HOST_IP: "10.0.0.2" });
    expect(vllmAdapter.readiness(1)).toEqual({ kind: "runs" });
  });

  it("by SGLang: one line on both, but for rank and address", () => {
    const line = (rank: number, address: string): Reasoned => [
      [`sglang serve --model-path deepseek-ai/DeepSeek-V3 --host ${address} --port 18003`, "each its own address"],
      ["--served-model-name deepseek-v3 --tp-size 8 --pp-size 2", "tp times pp is a multiple of the machines"],
      [`--nnodes 2 --node-rank ${rank}`, "its place"],
      ["--dist-init-addr 10.0.0.1:19040", "where the ranks meet; SGLang takes some ports after this one too"],
      ["--enable-metrics --config /data/private/sglang.yaml", "as for one machine"],
    ];
    expect(sglangAdapter.launch(deepseek(0)).argv).toEqual(words(line(0, "10.0.0.1")));
    expect(sglangAdapter.launch(deepseek(1)).argv).toEqual(words(line(1, "10.0.0.2")));
  });
});

describe("the launch lines of a GGUF with two RPC workers", () => {
  it("start the workers on their group ports, and the server once both listen", () => {
    const head = llamacppAdapter.launch(gguf(0));
    expect(head.argv).toEqual(
      words([
        ["llama-server -m /models/big-00001-of-00004.gguf", "the first file of a split GGUF"],
        ["--host 10.0.0.1 --port 18003 -a big-gguf --metrics -fit off -ngl 999 -c 32768 -np 4", "as for one machine"],
        ["--rpc 10.0.0.2:19041,10.0.0.3:19042", "the other machines' devices, by rank"],
      ]),
    );
    expect(head.env).toMatchObject({ LLAMA_API_KEY: "sk-replica", GGML_NO_BACKTRACE: "1" });
    expect(head.startsAfter).toEqual([
      { host: "10.0.0.2", port: 19_041 },
      { host: "10.0.0.3", port: 19_042 },
    ]);
    const worker = llamacppAdapter.launch(gguf(2));
    expect(worker.argv).toEqual(["ggml-rpc-server", "-H", "10.0.0.3", "-p", "19042"]);
    expect(worker.otherProgram).toBe("rpc-server");
    expect(worker.startsAfter).toEqual([]);
    expect(llamacppAdapter.readiness(2)).toEqual({ kind: "listens" });
  });

  it("put no layer on a GPU where there is none", () => {
    const { argv } = llamacppAdapter.launch({ ...alone, gpus: [] });
    expect(argv.join(" ")).toContain("-ngl 0");
  });
});

describe("any launch line", () => {
  const adapters = [vllmAdapter, sglangAdapter, llamacppAdapter];

  it.each(adapters)("of $name keeps the key out of the command line", (adapter) => {
    expect(adapter.launch(alone).argv.join(" ")).not.toContain("sk-replica");
  });

  it.each(adapters)(
    "of $name drops an operator's words that would make it another shard, and keeps the others last",
    (adapter) => {
      const extraArgs = ["--port", "1", "--host=0.0.0.0", "--api-key", "sk-mine", "--seed", "-1", "--flash", "on"];
      const { argv } = adapter.launch({ ...alone, extraArgs });
      expect(argv.slice(-4)).toEqual(["--seed", "-1", "--flash", "on"]);
      expect(argv.filter((word) => word === "--port")).toHaveLength(1);
      expect(argv.join(" ")).not.toMatch(/sk-mine|0\.0\.0\.0/);
    },
  );

  it("divides llama.cpp's cache by the slots that the operator asks for", () => {
    const { argv } = llamacppAdapter.launch({ ...alone, extraArgs: ["-np", "2"] });
    expect(argv.join(" ")).toContain("-c 65536 -np 2");
  });

  it("hides every GPU from a process that was given none, and names AMD's by index", () => {
    expect(vllmAdapter.launch({ ...alone, gpus: [] }).env["CUDA_VISIBLE_DEVICES"]).toBe("");
    const amd = { uuid: "amd-1", index: 3, vendor: "amd" } as const;
    expect(sglangAdapter.launch({ ...alone, gpus: [amd] }).env).toEqual({ HIP_VISIBLE_DEVICES: "3" });
  });
});
