import { describe, expect, it } from "vitest";
import { sglangAdapter } from "./adapter.ts";

const labels = '{engine_type="unified",model_name="llama-3.1-8b",moe_ep_rank="0",pp_rank="0",tp_rank="0"}';
const page = `# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs${labels} 14.0
sglang:num_queue_reqs${labels} 3.0
sglang:num_grammar_queue_reqs${labels} 2.0
sglang:num_used_tokens${labels} 51230.0
sglang:generation_tokens_total{engine_type="unified",model_name="llama-3.1-8b"} 388120.0
`;

/** Lines of a start of SGLang 0.5, in order. */
const start = [
  "[2026-11-30 10:00:00] server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B-Instruct', port=18000)",
  "[2026-11-30 10:00:09 TP0] Init torch distributed begin.",
  "[2026-11-30 10:00:10 TP0] Init torch distributed ends. elapsed=0.64 s, mem usage=0.10 GB",
  "[2026-11-30 10:00:11 TP0] Load weight begin. avail mem=78.47 GB",
  "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:01<00:01,  1.20it/s]",
  "[2026-11-30 10:00:47 TP0] Load weight end. elapsed=36.2 s, type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.36 GB",
  "[2026-11-30 10:00:47 TP0] KV Cache is allocated. #tokens: 213450, K size: 13.03 GB, V size: 13.03 GB",
  "[2026-11-30 10:00:49 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=36.8 GB",
  "[2026-11-30 10:00:59 TP0] Capture cuda graph end. Time elapsed: 9.61 s. mem usage=0.56 GB.",
  "[2026-11-30 10:00:59 TP0] max_total_num_tokens=213450, chunked_prefill_size=8192, max_running_requests=2048, context_len=131072",
  "[2026-11-30 10:01:00] INFO:     Uvicorn running on http://10.0.0.5:18000 (Press CTRL+C to quit)",
  "[2026-11-30 10:01:02] The server is fired up and ready to roll!",
];

describe("what SGLang says while it starts", () => {
  it("grows over all milestones and ends at 1", () => {
    const ratios = start.map((line) => sglangAdapter.progress(line)?.ratio ?? Number.NaN);
    expect(ratios).toEqual(ratios.toSorted((a, b) => a - b));
    expect(ratios.at(-1)).toBe(1);
  });
});

describe("the work that SGLang says it has", () => {
  it("is what runs and both of its queues, with the count of its tokens", () => {
    expect(sglangAdapter.work(page)).toEqual({ running: 14, waiting: 5, steps: 439_350 });
  });

  it("is unknown where a gauge is missing: an engine without --enable-metrics is not idle", () => {
    expect(sglangAdapter.work("sglang:num_running_reqs 0.0\n")).toBeNull();
    expect(sglangAdapter.work("")).toBeNull();
  });
});

describe("readiness of SGLang", () => {
  it("is asked of rank 0 only, and its generating health check no longer than until it is ready", () => {
    expect(sglangAdapter.readiness(0)).toMatchObject({ healthPath: "/health", alivePath: "/v1/models" });
    expect(sglangAdapter.readiness(1)).toEqual({ kind: "runs" });
  });
});
