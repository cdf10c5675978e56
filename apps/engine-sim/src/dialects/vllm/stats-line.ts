import type { ServerState } from "../openai/server-state.ts";

const INTERVAL_MS = 10_000;

/** vLLM's periodic throughput line, only while there is something to say. Returns what stops it. */
export function logStatsPeriodically(state: ServerState): () => void {
  const { stats, scheduler, kv, log } = state;
  let lastPrompt = 0;
  let lastGenerated = 0;
  const timer = setInterval(() => {
    const prompt = stats.promptTokens - lastPrompt;
    const generated = stats.generatedTokens - lastGenerated;
    lastPrompt = stats.promptTokens;
    lastGenerated = stats.generatedTokens;
    if (prompt === 0 && generated === 0 && scheduler.runningCount() === 0) {
      return;
    }
    const perSecond = (tokens: number) => ((tokens * 1000) / INTERVAL_MS).toFixed(1);
    const hitRate = stats.promptTokens === 0 ? 0 : (100 * stats.cachedPromptTokens) / stats.promptTokens;
    log.info(
      "APIServer",
      "loggers.py:257",
      `Engine 000: Avg prompt throughput: ${perSecond(prompt)} tokens/s, ` +
        `Avg generation throughput: ${perSecond(generated)} tokens/s, ` +
        `Running: ${scheduler.runningCount()} reqs, Waiting: ${scheduler.waitingCount()} reqs, ` +
        `GPU KV cache usage: ${(100 * kv.usageRatio()).toFixed(1)}%, Prefix cache hit rate: ${hitRate.toFixed(1)}%`,
    );
  }, INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
