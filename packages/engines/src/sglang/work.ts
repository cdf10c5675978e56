import type { EngineWork } from "../adapter.ts";
import { seriesTotal } from "../series.ts";

/**
 * Everything that SGLang holds (python/sglang/srt/observability/metrics_collector.py). Requests that wait for a grammar
 * to be compiled stand in a queue of their own.
 */
export function sglangWork(text: string): EngineWork | null {
  const running = seriesTotal(text, "sglang", ["num_running_reqs"]);
  const queued = seriesTotal(text, "sglang", ["num_queue_reqs"]);
  if (running === null || queued === null) return null;
  const grammar = seriesTotal(text, "sglang", ["num_grammar_queue_reqs"]) ?? 0;
  const generated = seriesTotal(text, "sglang", ["generation_tokens_total"]);
  // A long prompt produces no token while it is read, but it takes tokens of the cache.
  const used = seriesTotal(text, "sglang", ["num_used_tokens"]) ?? 0;
  return { running, waiting: queued + grammar, steps: generated === null ? null : generated + used };
}
