import type { KvCache } from "../../core/kv-cache.ts";
import type { Scheduler } from "../../core/scheduler.ts";
import type { Engine } from "../../engine/engine.ts";
import type { EngineStats } from "../../engine/engine-stats.ts";
import type { FaultState } from "../../faults/fault-state.ts";
import type { VllmLog } from "./log.ts";
import type { VllmSettings } from "./settings.ts";

/** Everything the endpoints work with. */
export interface ServerState {
  readonly settings: VllmSettings;
  readonly engine: Engine;
  readonly scheduler: Scheduler;
  readonly kv: KvCache;
  readonly stats: EngineStats;
  readonly faults: FaultState;
  readonly log: VllmLog;
  readonly startedSeconds: number;
  readonly wallClockMs: () => number;
  /** Dies on the spot, as a crash does: nothing is closed. */
  readonly crash: () => void;
  /** Set once SIGTERM has come: new requests are refused. */
  draining: boolean;
  /** Requests that `/load` counts. */
  load: number;
  /** Generation requests since the start, for faults that hit every Nth. */
  generationRequests: number;
  nextRequestNumber: number;
}
