import type { EngineWork } from "../adapter.ts";
import { seriesTotal } from "../series.ts";

/**
 * Busy slots, and requests without one. Token counters move only when a request ends; `n_decode_total` is the one that
 * moves while it runs, and stands still when a frozen RPC worker stops everything behind a healthy face.
 */
export function llamacppWork(text: string): EngineWork | null {
  const running = seriesTotal(text, "llamacpp", ["requests_processing"]);
  const waiting = seriesTotal(text, "llamacpp", ["requests_deferred"]);
  if (running === null || waiting === null) return null;
  return { running, waiting, steps: seriesTotal(text, "llamacpp", ["n_decode_total"]) };
}
