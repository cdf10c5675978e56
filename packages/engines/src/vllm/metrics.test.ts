import { describe, expect, test } from "vitest";
import { parseVllmMetrics } from "./metrics.ts";

describe("vLLM metrics", () => {
  test("are read from the names of old and new versions alike, the new one winning", () => {
    const base = "vllm:num_requests_running 3\nvllm:num_requests_waiting 1\n";
    expect(parseVllmMetrics(`${base}vllm:gpu_cache_usage_perc 0.25\n`)?.kvUsageRatio).toBe(0.25);
    expect(parseVllmMetrics(`${base}vllm:kv_cache_usage_perc 0.25\n`)?.kvUsageRatio).toBe(0.25);
    const both = `${base}vllm:gpu_cache_usage_perc 0.9\nvllm:kv_cache_usage_perc 0.25\n`;
    expect(parseVllmMetrics(both)).toEqual({ running: 3, waiting: 1, kvUsageRatio: 0.25 });
    expect(parseVllmMetrics("vllm_num_requests_running 2")?.running).toBe(2);
  });

  test("of several ranks are summed, and the fullest cache counts", () => {
    const text = [0, 1]
      .map((rank) => {
        const labels = `{engine="${rank}",model_name="org/m } \\" x"}`;
        return `vllm:num_requests_running${labels} ${3 + 2 * rank}.0 1730000000000\r\nvllm:kv_cache_usage_perc${labels} 0.${2 + 6 * rank}\r\n`;
      })
      .join("");
    expect(parseVllmMetrics(`# HELP x y\n${text}# EOF\n`)).toEqual({ running: 8, waiting: null, kvUsageRatio: 0.8 });
  });

  test("count as waiting what waits for capacity, where the engine tells it apart", () => {
    const text =
      'vllm:num_requests_waiting 7\nvllm:num_requests_waiting_by_reason{reason="capacity"} 2\nvllm:num_requests_waiting_by_reason{reason="deferred"} 5\n';
    expect(parseVllmMetrics(text)?.waiting).toBe(2);
  });

  test.each(["NaN", "+Inf", "-Inf", "-1", "x"])("with the value %s are unknown, not 0", (value) => {
    const text = `vllm:num_requests_running ${value}\nvllm:num_requests_waiting ${value}\nvllm:kv_cache_usage_perc ${value}\n`;
    expect(parseVllmMetrics(text)).toEqual({ running: null, waiting: null, kvUsageRatio: null });
  });

  test("keep a small share small and cap one above 1", () => {
    expect(parseVllmMetrics("vllm:kv_cache_usage_perc 1.2e-05")?.kvUsageRatio).toBe(0.000012);
    expect(parseVllmMetrics("vllm:kv_cache_usage_perc 1.7")?.kvUsageRatio).toBe(1);
  });

  test("are absent from a page that is something else", () => {
    expect(parseVllmMetrics("<!doctype html><title>hello</title>")).toBeNull();
    expect(parseVllmMetrics("")).toBeNull();
    expect(parseVllmMetrics("vllm:request_success_total 4\n")).toBeNull();
  });
});
