import { normal, type Random } from "./random.ts";

/** Times of one engine; milliseconds of engine time. */
export interface LatencySettings {
  /** Fixed part of the time to the first token. */
  readonly ttftMs: number;
  readonly prefillMsPerToken: number;
  /** Time between two tokens of a sequence that runs alone. */
  readonly itlMs: number;
  /** Standard deviation as a part of each time, 0..0.3. */
  readonly jitter: number;
  /** How many times slower a full batch is than a single sequence, at least 1. */
  readonly loadFactor: number;
}

export interface BatchLoad {
  readonly running: number;
  readonly maxNumSeqs: number;
}

/**
 * How much slower everything is with this many sequences in the batch: 1 alone, `loadFactor` with a full batch, linear
 * between (the model of llm-d-inference-sim).
 */
function batchFactor(loadFactor: number, load: BatchLoad): number {
  if (load.maxNumSeqs <= 1) {
    return 1;
  }
  return 1 + ((loadFactor - 1) * (Math.max(1, load.running) - 1)) / (load.maxNumSeqs - 1);
}

/** Time from scheduling to the first token, for the tokens that the prefix cache did not have. */
export function prefillMs(settings: LatencySettings, load: BatchLoad & { computedTokens: number }, random: Random) {
  const mean = settings.ttftMs + settings.prefillMsPerToken * load.computedTokens;
  return jittered(mean * batchFactor(settings.loadFactor, load), settings.jitter, random);
}

/** Time to the next token of a running sequence. */
export function interTokenMs(settings: LatencySettings, load: BatchLoad, random: Random): number {
  return jittered(settings.itlMs * batchFactor(settings.loadFactor, load), settings.jitter, random);
}

/** Never further than 70 % from the mean, as in llm-d-inference-sim: no negative times, no absurd outliers. */
function jittered(meanMs: number, jitter: number, random: Random): number {
  if (jitter === 0) {
    return meanMs;
  }
  const deviation = Math.min(0.7, Math.max(-0.7, jitter * normal(random)));
  return meanMs * (1 + deviation);
}
