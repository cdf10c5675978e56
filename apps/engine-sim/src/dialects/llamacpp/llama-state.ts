import type { SimClock } from "../../core/clock.ts";
import type { Scheduler } from "../../core/scheduler.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EngineStats } from "../../engine/engine-stats.ts";
import type { FaultState } from "../../faults/fault-state.ts";
import type { LlamaSettings } from "./arguments.ts";
import type { LlamaLog } from "./log.ts";

/** A request that has a slot or waits for one. */
export interface LlamaRequest {
  readonly id: string;
  readonly promptTokens: number;
  readonly maxTokens: number;
  generated: number;
  /** It has a slot and its prompt is read. */
  processing: boolean;
  /** Ends it with an error, as a full cache does to everybody. */
  readonly fail: (message: string) => void;
}

/** Everything the endpoints work with. */
export interface LlamaState {
  readonly settings: LlamaSettings;
  readonly clock: SimClock;
  readonly scheduler: Scheduler;
  readonly engine: Engine;
  readonly stats: EngineStats;
  readonly faults: FaultState;
  readonly log: LlamaLog;
  readonly wallClockMs: () => number;
  readonly crash: () => void;
  readonly requests: Map<string, LlamaRequest>;
  loading: boolean;
  /** Set by SIGTERM: nothing is generated any more, and connections stay open in silence. */
  frozen: boolean;
  generationRequests: number;
  nextRequestNumber: number;
  /** Calls of llama_decode so far: the one count that moves while requests run. */
  decodes: number;
  /** Counted only when a request has ended. */
  predictedTokens: number;
  /** When a result was last delivered or asked for, monotonic: clients that left are noticed only in silence. */
  wokenAtMs: number;
}
