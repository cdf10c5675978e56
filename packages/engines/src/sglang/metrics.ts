import { type EngineMetrics, first, fullest, readSamples, type Sample, sum } from "../samples.ts";

const RUNNING = ["num_running_reqs"];
const QUEUED = ["num_queue_reqs"];
const QUEUED_FOR_GRAMMAR = ["num_grammar_queue_reqs"];
/** `token_usage` is rounded to two decimals and the largest of several pools: the cache of full attention is meant. */
const KV_USAGE = ["full_token_usage", "token_usage"];
const WANTED = new Set([...RUNNING, ...QUEUED, ...QUEUED_FOR_GRAMMAR, ...KV_USAGE]);

/**
 * Reads SGLang's Prometheus text (sglang/srt/observability/metrics_collector.py), which it serves with `--enable-metrics`.
 * Ranks of one tensor or pipeline group tell the same counts: only their first one is read, and data-parallel ones are summed.
 */
export function parseSglangMetrics(text: string): EngineMetrics | null {
  const samples = readSamples(text, "sglang", WANTED);
  const ofFirstRank = (names: readonly string[]) => first(samples, names)?.filter(isFirstRank);
  const running = ofFirstRank(RUNNING);
  const queued = ofFirstRank(QUEUED);
  const kvUsage = ofFirstRank(KV_USAGE);
  if (running === undefined && queued === undefined && kvUsage === undefined) return null;
  const waiting = queued === undefined ? undefined : [...queued, ...(ofFirstRank(QUEUED_FOR_GRAMMAR) ?? [])];
  return { running: sum(running), waiting: sum(waiting), kvUsageRatio: fullest(kvUsage) };
}

function isFirstRank({ labels }: Sample): boolean {
  return !/[{,](?:tp|pp)_rank="(?!0")/.test(labels);
}
