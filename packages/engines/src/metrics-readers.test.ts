import { describe, expect, test } from "vitest";
import { metricsReaders } from "./metrics-readers.ts";

const read = (engine: "sglang" | "llamacpp", text: string) => metricsReaders.get(engine)?.(text);

describe("SGLang metrics", () => {
  const labels = 'engine_type="unified",model_name="llama-3.1-8b",moe_ep_rank="0",pp_rank="0"';

  test("count as waiting what queues for a batch and for its grammar", () => {
    const page = [
      "# TYPE sglang:num_running_reqs gauge",
      `sglang:num_running_reqs{${labels},tp_rank="0"} 14.0`,
      `sglang:num_queue_reqs{${labels},tp_rank="0"} 3.0`,
      `sglang:num_grammar_queue_reqs{${labels},tp_rank="0"} 2.0`,
      `sglang:token_usage{${labels},tp_rank="0"} 0.24`,
      `sglang:cache_hit_rate{${labels},tp_rank="0"} 0.9`,
    ].join("\n");
    expect(read("sglang", page)).toEqual({ running: 14, waiting: 5, kvUsageRatio: 0.24 });
    const withFull = `${page}\nsglang:full_token_usage{${labels},tp_rank="0"} 0.2371\n`;
    expect(read("sglang", withFull)?.kvUsageRatio).toBe(0.2371);
  });

  test("sum data-parallel ranks, and read only the first of a tensor-parallel group", () => {
    const page = [0, 1]
      .flatMap((dp) => [0, 1].map((tp) => `sglang:num_running_reqs{dp_rank="${dp}",tp_rank="${tp}"} ${3 + dp}`))
      .join("\n");
    expect(read("sglang", page)).toEqual({ running: 7, waiting: null, kvUsageRatio: null });
  });

  test("are absent from the page of a server started without --enable-metrics", () => {
    expect(read("sglang", '{"detail":"Not Found"}')).toBeNull();
    expect(read("sglang", "sglang_num_requests_total 4\n")).toBeNull();
  });
});

describe("llama.cpp metrics", () => {
  test("tell the slots at work and what is deferred, and nothing of a cache that is not reported", () => {
    const page =
      "# HELP llamacpp:requests_processing Number of requests processing.\nllamacpp:requests_processing 2\nllamacpp:requests_deferred 1\nllamacpp:n_decode_total 39303\n";
    expect(read("llamacpp", page)).toEqual({ running: 2, waiting: 1, kvUsageRatio: null });
    expect(read("llamacpp", `${page}llamacpp:kv_cache_usage_ratio 0.5\n`)?.kvUsageRatio).toBe(0.5);
  });

  test("are absent from another page, and a missing count is unknown, not 0", () => {
    expect(read("llamacpp", '{"error":{"code":501,"type":"not_supported_error"}}')).toBeNull();
    expect(read("llamacpp", "llamacpp:requests_processing 2\n")?.waiting).toBeNull();
  });
});
