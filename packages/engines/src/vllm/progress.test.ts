import { describe, expect, it } from "vitest";
import { vllmProgress } from "./progress.ts";

/** Lines of a start of vLLM 0.19, in order, as its log shows them. */
const start = [
  "(APIServer pid=1) INFO 04-19 10:45:24 [utils.py:233] non-default args: {'model_tag': '/models/qwen', 'port': 18000}",
  "(APIServer pid=1) INFO 04-19 10:45:31 [model.py:541] Resolved architecture: Qwen2ForCausalLM",
  "(EngineCore pid=81) INFO 04-19 10:45:45 [gpu_model_runner.py:4] Starting to load model /models/qwen...",
  "(EngineCore pid=81) \rLoading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<?, ?it/s]",
  "(EngineCore pid=81) \rLoading safetensors checkpoint shards:  50% Completed | 2/4 [00:35<00:35, 17.6s/it]",
  "(EngineCore pid=81) INFO 04-19 10:47:05 [default_loader.py:384] Loading weights took 71.20 seconds",
  "(EngineCore pid=81) INFO 04-19 10:48:15 [gpu_model_runner.py] Model loading took 9.38 GiB memory and 141.542131 seconds",
  "(EngineCore pid=81) INFO 04-19 10:48:25 [gpu_worker.py:4] Available KV cache memory: 9.1 GiB",
  "(EngineCore pid=81) INFO 04-19 10:48:25 [kv_cache_utils.py:1] GPU KV cache size: 49,696 tokens",
  "(EngineCore pid=81) Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  10%|█ | 7/67",
  "(EngineCore pid=81) INFO 04-19 10:48:40 [gpu_model_runner.py] Graph capturing finished in 12 secs, took 0.55 GiB",
  "(EngineCore pid=81) INFO 04-19 10:48:40 [core.py:1] init engine (profile, create kv cache, warmup model) took 24.9 seconds",
  "(APIServer pid=1) INFO 04-19 10:48:42 [launcher.py:38] Available routes are:",
  "(APIServer pid=1) INFO:     Application startup complete.",
];

describe("vllmProgress", () => {
  it("grows over a recorded start and ends at 1", () => {
    const ratios = start.map((line) => vllmProgress(line)?.ratio ?? Number.NaN);
    expect(ratios).toEqual(ratios.toSorted((a, b) => a - b));
    expect(ratios.at(-1)).toBe(1);
  });

  it("says how many weight files are read", () => {
    expect(vllmProgress(start[4] ?? "")).toEqual({ ratio: 0.4, message: "loading weights 2/4" });
  });

  it("is silent on lines that say nothing of the start", () => {
    const line = "Engine 000: Avg prompt throughput: 0.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs";
    expect(vllmProgress(line)).toBeNull();
  });
});
