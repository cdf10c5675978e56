import type { EngineWork } from "../adapter.ts";
import { parseVllmMetrics } from "./metrics.ts";

/**
 * Everything that vLLM holds. For routing, a request deferred for another reason than capacity does not count as
 * waiting; for the proof that the engine is idle it does, so the breakdown by reason is left out and the total read.
 */
export function vllmWork(text: string): EngineWork | null {
  const lines = text.split("\n").filter((line) => !line.includes("num_requests_waiting_by_reason"));
  const metrics = parseVllmMetrics(lines.join("\n"));
  if (metrics === null || metrics.running === null || metrics.waiting === null) return null;
  return { running: metrics.running, waiting: metrics.waiting };
}
