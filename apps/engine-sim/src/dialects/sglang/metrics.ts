import { createPrometheusText } from "../openai/prometheus-text.ts";
import type { ServerState } from "../openai/server-state.ts";

/** The page of `GET /metrics`, with the names of python/sglang/srt/observability/metrics_collector.py. */
export function sglangMetrics({ settings, scheduler, kv, stats }: ServerState): string {
  const tokenizer = { engine_type: "unified", model_name: settings.servedNames[0] };
  const page = createPrometheusText({ ...tokenizer, moe_ep_rank: "0", pp_rank: "0", tp_rank: "0" });
  const capacity = kv.capacityTokens;
  const used = kv.usedBlocks() * settings.blockSize;
  // Two decimals, as SGLang rounds it.
  const usage = Math.round((100 * used) / capacity) / 100;
  const gauge = (name: string, help: string, value: number) => page.gauge(`sglang:${name}`, help, [{ value }]);
  gauge("num_running_reqs", "The number of running requests.", scheduler.runningCount());
  gauge("num_used_tokens", "The number of used tokens.", used);
  gauge("token_usage", "The token usage.", usage);
  gauge("full_token_usage", "The token usage for full attention layers.", used / capacity);
  gauge("num_queue_reqs", "The number of requests in the waiting queue.", scheduler.waitingCount());
  gauge("num_grammar_queue_reqs", "The number of requests in the grammar waiting queue.", 0);
  gauge("max_total_num_tokens", "Maximum total number of tokens in the KV cache pool.", capacity);
  gauge("cache_hit_rate", "The prefix cache hit rate.", 0);
  page.counter("sglang:num_retracted_requests", "Total number of retracted requests.", [{ value: stats.preemptions }]);

  const own = createPrometheusText(tokenizer);
  const ended = Object.values(stats.finished).reduce((sum, count) => sum + count, 0);
  own.counter("sglang:prompt_tokens", "Number of prefill tokens processed.", [{ value: stats.promptTokens }]);
  own.counter("sglang:generation_tokens", "Number of generation tokens processed.", [{ value: stats.generatedTokens }]);
  own.counter("sglang:cached_tokens", "Number of cached prompt tokens.", [{ value: stats.cachedPromptTokens }]);
  own.counter("sglang:num_requests", "Number of requests processed.", [{ value: ended }]);
  own.counter("sglang:num_aborted_requests", "Number of requests aborted.", [{ value: stats.finished.abort }]);
  own.histogram(
    "sglang:time_to_first_token_seconds",
    "Histogram of time to first token in seconds.",
    stats.timeToFirstToken,
  );
  own.histogram("sglang:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", stats.interToken);
  own.histogram(
    "sglang:e2e_request_latency_seconds",
    "Histogram of End-to-end request latency in seconds",
    stats.endToEnd,
  );
  return page.text() + own.text();
}
