import { describe, expect, it } from "vitest";
import { createKvCache } from "../../core/kv-cache.ts";
import { createRandom } from "../../core/random.ts";
import { createScheduler } from "../../core/scheduler.ts";
import { createEngineStats } from "../../engine/engine-stats.ts";
import { observe } from "../../engine/histogram.ts";
import { parseVllmCommandLine } from "./command-line.ts";
import { distortMetrics, metricsPage } from "./metrics.ts";

function sources(line: string) {
  const parsed = parseVllmCommandLine(line.split(" "), { apiKey: undefined, faults: undefined });
  if (parsed.kind !== "serve") {
    throw new Error(`expected '${line}' to be accepted`);
  }
  const { settings } = parsed;
  const kv = createKvCache({ blocks: 100, blockSize: 16, prefixCaching: true });
  const scheduler = createScheduler({
    maxNumSeqs: 1,
    maxQueuedRequests: 10,
    maxQueuedTokens: 1000,
    kv,
    latency: () => settings.sim.latency,
    random: createRandom(1),
  });
  return { settings, kv, scheduler, stats: createEngineStats() };
}

describe("metrics page", () => {
  it("tells the scheduler's own state under vLLM's names", () => {
    const parts = sources("serve m --served-model-name first second");
    for (const id of ["a", "b", "c"]) {
      parts.scheduler.submit({ id, promptTokens: 160, outputTokens: 1, prefixHashes: [] }, 0);
    }
    const page = metricsPage(parts);
    expect(page).toContain('vllm:num_requests_running{engine="0",model_name="first"} 1.0\n');
    expect(page).toContain('vllm:num_requests_waiting{engine="0",model_name="first"} 2.0\n');
    expect(page).toContain(
      'vllm:num_requests_waiting_by_reason{engine="0",model_name="first",reason="capacity"} 2.0\n',
    );
    expect(page).toContain('vllm:kv_cache_usage_perc{engine="0",model_name="first"} 0.1\n');
  });

  it("writes histograms cumulatively", () => {
    const parts = sources("serve m");
    observe(parts.stats.timeToFirstToken, 0.05);
    observe(parts.stats.timeToFirstToken, 0.3);
    const page = metricsPage(parts);
    expect(page).toContain('vllm:time_to_first_token_seconds_bucket{engine="0",le="0.06",model_name="m"} 1.0\n');
    expect(page).toContain('vllm:time_to_first_token_seconds_bucket{engine="0",le="0.5",model_name="m"} 2.0\n');
    expect(page).toContain('vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 2.0\n');
  });

  it("has no series with --disable-log-stats", () => {
    expect(metricsPage(sources("serve m --disable-log-stats"))).toBe("");
  });

  it("carries the old names where a fault asks for them", () => {
    const page = distortMetrics(metricsPage(sources("serve m")), "renamed");
    expect(page).toContain("vllm:gpu_cache_usage_perc{");
    expect(page).not.toContain("vllm:kv_cache_usage_perc");
  });
});
