import type { SchedulerEvent, SequenceTiming } from "../core/scheduler.ts";
import { createHistogram, type Histogram, observe } from "./histogram.ts";

/** Why a sequence ended. */
export type FinishReason = "stop" | "length" | "abort" | "error";

/** Counters since the start of the engine. Times are engine seconds, as engines publish them. */
export interface EngineStats {
  promptTokens: number;
  cachedPromptTokens: number;
  generatedTokens: number;
  preemptions: number;
  readonly finished: Record<FinishReason, number>;
  readonly rejected: Map<string, number>;
  readonly timeToFirstToken: Histogram;
  readonly interToken: Histogram;
  readonly endToEnd: Histogram;
  readonly queueTime: Histogram;
  readonly prefillTime: Histogram;
  readonly decodeTime: Histogram;
  readonly inferenceTime: Histogram;
  readonly timePerOutputToken: Histogram;
  readonly requestPromptTokens: Histogram;
  readonly requestGeneratedTokens: Histogram;
}

/** Bucket bounds of vllm/v1/metrics/loggers.py. */
const FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
];
const TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const REQUEST_SECONDS = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];
const TOKEN_COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];

export function createEngineStats(): EngineStats {
  return {
    promptTokens: 0,
    cachedPromptTokens: 0,
    generatedTokens: 0,
    preemptions: 0,
    finished: { stop: 0, length: 0, abort: 0, error: 0 },
    rejected: new Map(),
    timeToFirstToken: createHistogram(FIRST_TOKEN_SECONDS),
    interToken: createHistogram(TOKEN_SECONDS),
    endToEnd: createHistogram(REQUEST_SECONDS),
    queueTime: createHistogram(REQUEST_SECONDS),
    prefillTime: createHistogram(REQUEST_SECONDS),
    decodeTime: createHistogram(REQUEST_SECONDS),
    inferenceTime: createHistogram(REQUEST_SECONDS),
    timePerOutputToken: createHistogram(TOKEN_SECONDS),
    requestPromptTokens: createHistogram(TOKEN_COUNTS),
    requestGeneratedTokens: createHistogram(TOKEN_COUNTS),
  };
}

/** Counts one scheduler event. The reason of a finished sequence is the caller's knowledge and counted by it. */
export function countEvent(stats: EngineStats, event: SchedulerEvent): void {
  switch (event.kind) {
    case "prefilled":
      stats.promptTokens += event.promptTokens;
      stats.cachedPromptTokens += event.cachedTokens;
      return;
    case "token":
      stats.generatedTokens += 1;
      observe(event.index === 0 ? stats.timeToFirstToken : stats.interToken, event.sinceMs / 1000);
      return;
    case "preempted":
      stats.preemptions += 1;
      return;
    case "finished":
      observe(stats.requestPromptTokens, event.promptTokens);
      observe(stats.requestGeneratedTokens, event.generatedTokens);
      countTiming(stats, event.timing, event.generatedTokens);
      return;
  }
}

function countTiming(stats: EngineStats, timing: SequenceTiming, generatedTokens: number): void {
  const decodeSeconds = (timing.finishedMs - timing.firstTokenMs) / 1000;
  observe(stats.endToEnd, (timing.finishedMs - timing.arrivedMs) / 1000);
  observe(stats.queueTime, (timing.scheduledMs - timing.arrivedMs) / 1000);
  observe(stats.prefillTime, (timing.firstTokenMs - timing.scheduledMs) / 1000);
  observe(stats.decodeTime, decodeSeconds);
  observe(stats.inferenceTime, (timing.finishedMs - timing.scheduledMs) / 1000);
  if (generatedTokens > 1) {
    observe(stats.timePerOutputToken, decodeSeconds / (generatedTokens - 1));
  }
}
