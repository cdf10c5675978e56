import { type EngineMetrics, first, fullest, readSamples, sum } from "../samples.ts";

const RUNNING = ["requests_processing"];
const DEFERRED = ["requests_deferred"];
/** Gone from the server in 2025: newer ones tell nothing about their cache. */
const KV_USAGE = ["kv_cache_usage_ratio"];
const WANTED = new Set([...RUNNING, ...DEFERRED, ...KV_USAGE]);

/** Reads the Prometheus text of llama.cpp's `llama-server` (tools/server), which it serves with `--metrics`. */
export function parseLlamacppMetrics(text: string): EngineMetrics | null {
  const samples = readSamples(text, "llamacpp", WANTED);
  const running = first(samples, RUNNING);
  const waiting = first(samples, DEFERRED);
  const kvUsage = first(samples, KV_USAGE);
  if (running === undefined && waiting === undefined && kvUsage === undefined) return null;
  return { running: sum(running), waiting: sum(waiting), kvUsageRatio: fullest(kvUsage) };
}
