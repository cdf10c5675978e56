import type { Clock, Logger } from "@llmgw/service";
import type { DecisionLog } from "../diagnostics/decision-log.ts";
import type { Registry } from "../registry/registry.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { TimerWheel } from "../upstream/timer-wheel.ts";
import type { Exchange, ExchangeEnd } from "./exchange.ts";

export interface QueueWait {
  readonly band: string | null;
  readonly waitedMs: number;
  readonly outcome: "granted" | "refused" | "left";
}

/** What happened to requests, for whoever counts it. */
export interface TrafficObserver {
  exchangeEnded(exchange: Exchange, end: ExchangeEnd): void;
  /** How an attempt on an engine ended: success, failure, backpressure or neutral. */
  attemptEnded(kind: string): void;
  /** A request waited for a place; `outcome`: whether it got one. */
  waited(wait: QueueWait): void;
  /** A request of this model is tried once more. */
  retried(model: string): void;
}

/** All that serving a request needs. */
export interface Gateway {
  readonly registry: Registry;
  readonly wheel: TimerWheel;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: TrafficObserver;
  /** Decisions that somebody asked to be explained. */
  readonly decisions: DecisionLog;
  /** Null: nobody collects traces. */
  readonly tracer: Tracer | null;
  readonly isDraining: () => boolean;
  /** Bytes of request bodies held now. */
  readonly bodyMemory: BodyMemory;
}

/** Counts the bytes of request bodies that are held, against one budget for the whole process. */
export class BodyMemory {
  #held = 0;

  get held(): number {
    return this.#held;
  }

  tryHold(bytes: number, budget: number): boolean {
    if (this.#held + bytes > budget) return false;
    this.#held += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#held -= bytes;
  }
}
