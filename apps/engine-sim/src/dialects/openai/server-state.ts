import type { SimClock } from "../../core/clock.ts";
import type { KvCache } from "../../core/kv-cache.ts";
import type { Scheduler } from "../../core/scheduler.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EngineStats } from "../../engine/engine-stats.ts";
import type { FaultState } from "../../faults/fault-state.ts";
import type { Dialect } from "./dialect.ts";
import type { EngineLog } from "./engine-log.ts";
import type { ServeSettings } from "./serve-settings.ts";

/** Everything the endpoints work with. */
export interface ServerState {
  readonly dialect: Dialect;
  readonly settings: ServeSettings;
  readonly clock: SimClock;
  readonly engine: Engine;
  readonly scheduler: Scheduler;
  readonly kv: KvCache;
  readonly stats: EngineStats;
  readonly faults: FaultState;
  readonly log: EngineLog;
  readonly startedSeconds: number;
  readonly wallClockMs: () => number;
  /** Dies on the spot, as a crash does: nothing is closed. */
  readonly crash: () => void;
  /** True until the engine calls itself ready, where that is later than its port opens. */
  starting: boolean;
  /** Set once SIGTERM has come: new requests are refused. */
  draining: boolean;
  /** Requests that `/load` counts. */
  load: number;
  /** Generation requests since the start, for faults that hit every Nth. */
  generationRequests: number;
  nextRequestNumber: number;
}
