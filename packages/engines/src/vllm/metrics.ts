import { type EngineMetrics, first, fullest, readSamples, sum } from "../samples.ts";

const RUNNING = ["num_requests_running"];
const WAITING = ["num_requests_waiting"];
const WAITING_BY_REASON = ["num_requests_waiting_by_reason"];
/** Newest name first: `gpu_cache_usage_perc` was renamed in vLLM 0.9. Both are fractions in spite of their names. */
const KV_USAGE = ["kv_cache_usage_perc", "gpu_cache_usage_perc"];
const WANTED = new Set([...RUNNING, ...WAITING, ...WAITING_BY_REASON, ...KV_USAGE]);

/**
 * Reads vLLM's Prometheus text (vllm/v1/metrics/loggers.py; names of all versions since 0.6, with `:` or Ray's `_` after
 * `vllm`). Answers null if it holds none of the wanted families, as another page or a server without statistics does.
 */
export function parseVllmMetrics(text: string): EngineMetrics | null {
  const samples = readSamples(text, "vllm", WANTED);
  const running = first(samples, RUNNING);
  // Requests deferred for another reason than capacity say nothing about how full the engine is.
  const byCapacity = first(samples, WAITING_BY_REASON)?.filter(({ labels }) => labels.includes('reason="capacity"'));
  const waiting = byCapacity !== undefined && byCapacity.length > 0 ? byCapacity : first(samples, WAITING);
  const kvUsage = first(samples, KV_USAGE);
  if (running === undefined && waiting === undefined && kvUsage === undefined) return null;
  return { running: sum(running), waiting: sum(waiting), kvUsageRatio: fullest(kvUsage) };
}
