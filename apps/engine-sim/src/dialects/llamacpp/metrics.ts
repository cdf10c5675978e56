import type { LlamaState } from "./llama-state.ts";

/** The page of `GET /metrics`: no labels, no use of the cache, and counters of tokens that move when a request ends. */
export function llamaMetrics({ stats, scheduler, decodes, predictedTokens, requests }: LlamaState): string {
  const seconds = (total: number) => total.toFixed(3);
  const longest = Math.max(0, ...[...requests.values()].map((one) => one.promptTokens + one.generated));
  const predictedSeconds = stats.interToken.sum;
  const rows: readonly (readonly [name: string, type: string, help: string, value: number | string])[] = [
    [
      "prompt_tokens_total",
      "counter",
      "Number of prompt tokens processed, excluding cached tokens",
      stats.promptTokens,
    ],
    ["prompt_seconds_total", "counter", "Total time spent processing prompts", seconds(stats.timeToFirstToken.sum)],
    ["tokens_predicted_total", "counter", "Number of generation tokens processed", predictedTokens],
    ["tokens_predicted_seconds_total", "counter", "Total time spent generating tokens", seconds(predictedSeconds)],
    ["n_decode_total", "counter", "Total number of llama_decode() calls", decodes],
    ["n_tokens_max", "counter", "Largest observed sequence length (prompt + generation)", longest],
    ["predicted_tokens_seconds", "gauge", "Average generation throughput in tokens/s", 0],
    ["requests_processing", "gauge", "Number of requests processing", scheduler.runningCount()],
    ["requests_deferred", "gauge", "Number of requests deferred", scheduler.waitingCount()],
  ];
  return rows
    .map(([name, type, help, value]) => {
      const full = `llamacpp:${name}`;
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${full} ${value}\n`;
    })
    .join("");
}
