import type { EngineWork } from "../adapter.ts";
import { seriesTotal } from "../series.ts";

/**
 * Everything that vLLM holds, summed over its data-parallel ranks. For routing, a request deferred for another reason
 * than capacity does not count as waiting; for the proof that the engine is idle it does, so the total is read and not
 * the breakdown by reason.
 */
export function vllmWork(text: string): EngineWork | null {
  const running = seriesTotal(text, "vllm", ["num_requests_running"]);
  const waiting = seriesTotal(text, "vllm", ["num_requests_waiting"]);
  if (running === null || waiting === null) return null;
  const generated = seriesTotal(text, "vllm", ["generation_tokens_total"]);
  if (generated === null) return { running, waiting, steps: null };
  // A long prompt produces no token while it is read, but its cache grows.
  const cache = seriesTotal(text, "vllm", ["kv_cache_usage_perc", "gpu_cache_usage_perc"]) ?? 0;
  return { running, waiting, steps: generated + cache };
}
