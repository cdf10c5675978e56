import type { SimClock } from "../core/clock.ts";
import type { Scheduler, SequenceRequest, SubmitOutcome } from "../core/scheduler.ts";
import { countEvent, type EngineStats, type FinishReason } from "./engine-stats.ts";

/** Who gets the tokens of one sequence. */
interface SequenceSink {
  /** The prompt is computed; so many of its tokens came from the prefix cache. */
  prefilled(cachedTokens: number): void;
  token(index: number): void;
  finish(reason: FinishReason): void;
}

interface GenerateRequest extends SequenceRequest {
  /** The reason to report when all tokens are out. */
  readonly endReason: FinishReason;
}

/** The running engine: the scheduler, driven by one timer for all sequences together. */
export interface Engine {
  generate(request: GenerateRequest, sink: SequenceSink): SubmitOutcome;
  /** The client is gone: the place and the KV blocks are free at once, and the sink hears nothing more. */
  abort(id: string): void;
  /** Ends everything in flight with the reason "abort". */
  abortAll(): void;
  /** Must be called after the clock's factor or pause has changed. */
  clockChanged(): void;
  unfinished(): number;
  /** Resolves when nothing is in flight, or when the signal aborts. */
  idle(signal: AbortSignal): Promise<void>;
  /** Stops the timer; nothing is delivered any more. */
  destroy(): void;
}

export interface EngineParts {
  readonly scheduler: Scheduler;
  readonly clock: SimClock;
  readonly stats: EngineStats;
  /** Told after each sequence that ended by itself, with the number of those since the start. */
  readonly onRequestEnd: (ended: number) => void;
}

/**
 * Tokens due within this time of each other are sent in one wake-up. It bounds the wake-ups per second whatever the
 * number of streams, and is far below any inter-token time of a real engine.
 */
const TICK_MS = 4;

export function createEngine(parts: EngineParts): Engine {
  const { scheduler, clock, stats } = parts;
  const sinks = new Map<string, { sink: SequenceSink; endReason: FinishReason }>();
  const idleWaiters = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let armedForMs = Number.POSITIVE_INFINITY;
  let ended = 0;

  const disarm = () => {
    clearTimeout(timer);
    timer = undefined;
    armedForMs = Number.POSITIVE_INFINITY;
  };

  const arm = () => {
    const dueMs = scheduler.nextDueMs();
    if (dueMs === undefined || clock.paused()) {
      disarm();
      return;
    }
    if (timer !== undefined && armedForMs <= dueMs) {
      return;
    }
    disarm();
    armedForMs = dueMs;
    timer = setTimeout(tick, Math.max(TICK_MS, clock.realDelayMs(dueMs)));
  };

  const settle = () => {
    if (sinks.size === 0) {
      for (const waiter of idleWaiters) {
        waiter();
      }
    }
  };

  const finish = (id: string, reason?: FinishReason) => {
    const entry = sinks.get(id);
    if (entry === undefined) {
      return;
    }
    sinks.delete(id);
    const finalReason = reason ?? entry.endReason;
    stats.finished[finalReason] += 1;
    entry.sink.finish(finalReason);
    settle();
  };

  const tick = () => {
    disarm();
    for (const event of scheduler.advance(clock.nowMs())) {
      const entry = event.kind === "preempted" ? undefined : sinks.get(event.id);
      // A sink may abort a sequence while an earlier event of the same tick is delivered.
      if (event.kind !== "preempted" && entry === undefined) {
        continue;
      }
      countEvent(stats, event);
      if (event.kind === "prefilled") {
        entry?.sink.prefilled(event.cachedTokens);
      } else if (event.kind === "token") {
        entry?.sink.token(event.index);
      } else if (event.kind === "finished") {
        finish(event.id);
        ended += 1;
        parts.onRequestEnd(ended);
      }
    }
    arm();
  };

  return {
    generate(request, sink) {
      const outcome = scheduler.submit(request, clock.nowMs());
      if (outcome.kind === "accepted") {
        sinks.set(request.id, { sink, endReason: request.endReason });
        arm();
      } else {
        stats.rejected.set(outcome.limit, (stats.rejected.get(outcome.limit) ?? 0) + 1);
      }
      return outcome;
    },
    abort(id) {
      if (!sinks.delete(id)) {
        return;
      }
      scheduler.abort(id, clock.nowMs());
      stats.finished.abort += 1;
      settle();
      arm();
    },
    abortAll() {
      for (const id of [...sinks.keys()]) {
        scheduler.abort(id, clock.nowMs());
        finish(id, "abort");
      }
      arm();
    },
    clockChanged() {
      disarm();
      arm();
    },
    unfinished: () => sinks.size,
    async idle(signal) {
      if (sinks.size === 0 || signal.aborted) {
        return;
      }
      await new Promise<void>((resolve) => {
        const done = () => {
          idleWaiters.delete(done);
          signal.removeEventListener("abort", done);
          resolve();
        };
        idleWaiters.add(done);
        signal.addEventListener("abort", done, { once: true });
      });
    },
    destroy: disarm,
  };
}
