import type { Clock, Logger } from "@llmgw/service";
import type { Registry } from "../registry/registry.ts";
import type { TimerWheel } from "../upstream/timer-wheel.ts";
import type { Exchange, ExchangeEnd } from "./exchange.ts";

/** What happened to requests, for whoever counts it. */
export interface TrafficObserver {
  exchangeEnded(exchange: Exchange, end: ExchangeEnd): void;
  /** How an attempt on an engine ended: success, failure, backpressure or neutral. */
  attemptEnded(kind: string): void;
}

/** All that serving a request needs. */
export interface Gateway {
  readonly registry: Registry;
  readonly wheel: TimerWheel;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: TrafficObserver;
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
