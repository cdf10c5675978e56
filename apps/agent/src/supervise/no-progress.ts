import type { EngineWork } from "@llmgw/engines";
import { formatDuration } from "@llmgw/service";

/**
 * Notices an engine that holds requests and computes nothing: health says 200, keep-alive comments flow, and no token
 * ever comes, as with a frozen worker of llama.cpp. An idle engine is never meant, nor one whose counts cannot be read.
 */
export class NoProgress {
  readonly #limitMs: number;
  #steps: number | null = null;
  #sinceMs: number | null = null;
  #running = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  saw(work: EngineWork | null, nowMs: number): void {
    const isStill = work !== null && work.running > 0 && work.steps !== null && work.steps === this.#steps;
    this.#running = work?.running ?? 0;
    this.#steps = work?.steps ?? null;
    if (!isStill) this.#sinceMs = nowMs;
  }

  /** In words, once it has lasted; else null. */
  problem(nowMs: number): string | null {
    if (this.#sinceMs === null || this.#running === 0 || nowMs - this.#sinceMs < this.#limitMs) return null;
    return `no progress for ${formatDuration(this.#limitMs)}: it runs ${this.#running} requests and computes nothing`;
  }
}
