import type { KvCache } from "../../core/kv-cache.ts";
import type { Scheduler } from "../../core/scheduler.ts";
import type { EngineStats } from "../../engine/engine-stats.ts";
import type { MetricsShape } from "../../faults/fault.ts";
import { createPrometheusText } from "../openai/prometheus-text.ts";
import type { ServeSettings } from "../openai/serve-settings.ts";

export interface MetricsSources {
  readonly settings: ServeSettings;
  readonly scheduler: Scheduler;
  readonly kv: KvCache;
  readonly stats: EngineStats;
}

/** The page of `GET /metrics`, with the names, labels and help texts of vllm/v1/metrics/loggers.py. */
export function metricsPage({ settings, scheduler, kv, stats }: MetricsSources): string {
  if (!settings.logStats) {
    return "";
  }
  const page = createPrometheusText({ engine: "0", model_name: settings.servedNames[0] });
  const waiting = scheduler.waitingCount();
  page.gauge("vllm:num_requests_running", "Number of requests in model execution batches.", [
    { value: scheduler.runningCount() },
  ]);
  page.gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.", [{ value: waiting }]);
  page.gauge("vllm:num_requests_waiting_by_reason", "Number of waiting requests by reason.", [
    { labels: { reason: "capacity" }, value: waiting },
    { labels: { reason: "deferred" }, value: 0 },
  ]);
  page.gauge("vllm:engine_sleep_state", "Engine sleep state; awake = 0 means engine is sleeping.", [
    { labels: { sleep_state: "awake" }, value: 1 },
    { labels: { sleep_state: "weights_offloaded" }, value: 0 },
    { labels: { sleep_state: "discard_all" }, value: 0 },
  ]);
  page.gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", [{ value: kv.usageRatio() }]);
  page.counter("vllm:prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.", [
    { value: settings.prefixCaching ? stats.promptTokens : 0 },
  ]);
  page.counter("vllm:prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", [
    { value: stats.cachedPromptTokens },
  ]);
  page.counter("vllm:num_preemptions", "Cumulative number of preemption from the engine.", [
    { value: stats.preemptions },
  ]);
  page.counter("vllm:prompt_tokens", "Number of prefill tokens processed.", [{ value: stats.promptTokens }]);
  page.counter("vllm:prompt_tokens_cached", "Number of cached prompt tokens.", [{ value: stats.cachedPromptTokens }]);
  page.counter("vllm:generation_tokens", "Number of generation tokens processed.", [{ value: stats.generatedTokens }]);
  page.counter(
    "vllm:request_success",
    "Count of successfully processed requests.",
    Object.entries(stats.finished).map(([reason, value]) => ({ labels: { finished_reason: reason }, value })),
  );
  page.counter(
    "vllm:admission_rejections",
    "Count of requests rejected at admission.",
    [...stats.rejected].map(([reason, value]) => ({ labels: { reason }, value })),
  );
  page.histogram(
    "vllm:time_to_first_token_seconds",
    "Histogram of time to first token in seconds.",
    stats.timeToFirstToken,
  );
  page.histogram("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", stats.interToken);
  page.histogram(
    "vllm:request_time_per_output_token_seconds",
    "Histogram of time_per_output_token_seconds per request.",
    stats.timePerOutputToken,
  );
  page.histogram("vllm:e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", stats.endToEnd);
  page.histogram(
    "vllm:request_queue_time_seconds",
    "Histogram of time spent in WAITING phase for request.",
    stats.queueTime,
  );
  page.histogram(
    "vllm:request_prefill_time_seconds",
    "Histogram of time spent in PREFILL phase for request.",
    stats.prefillTime,
  );
  page.histogram(
    "vllm:request_decode_time_seconds",
    "Histogram of time spent in DECODE phase for request.",
    stats.decodeTime,
  );
  page.histogram(
    "vllm:request_inference_time_seconds",
    "Histogram of time spent in RUNNING phase for request.",
    stats.inferenceTime,
  );
  page.histogram("vllm:request_prompt_tokens", "Number of prefill tokens processed.", stats.requestPromptTokens);
  page.histogram(
    "vllm:request_generation_tokens",
    "Number of generation tokens processed.",
    stats.requestGeneratedTokens,
  );
  page.gauge("vllm:cache_config_info", "Information of the LLMEngine CacheConfig", [
    {
      value: 1,
      labels: {
        block_size: String(settings.blockSize),
        cache_dtype: "auto",
        enable_prefix_caching: settings.prefixCaching ? "True" : "False",
        gpu_memory_utilization: String(settings.gpuMemoryUtilization),
        num_gpu_blocks: String(settings.kvBlocks),
      },
    },
  ]);
  return page.text();
}

/** The page as a fault wants it: without series, with the names of vLLM before 0.9, or not parsable. */
export function distortMetrics(page: string, shape: Exclude<MetricsShape, "absent">): string {
  switch (shape) {
    case "empty":
      return "";
    case "renamed":
      return page
        .replaceAll("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
        .replaceAll("vllm:prefix_cache_", "vllm:gpu_prefix_cache_")
        .replaceAll("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds");
    case "corrupt":
      return `${page.slice(0, page.length / 2).replaceAll(/ \d+\.0$/gm, " NaN")}\n<html>`;
  }
}
