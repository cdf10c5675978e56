import type { Controls } from "../../control/control-server.ts";
import { createSimClock, type SimClock } from "../../core/clock.ts";
import { createKvCache } from "../../core/kv-cache.ts";
import { createRandom } from "../../core/random.ts";
import { createScheduler } from "../../core/scheduler.ts";
import { createEngine } from "../../engine/engine.ts";
import { createEngineStats } from "../../engine/engine-stats.ts";
import { createTermination, type Termination } from "../../engine/termination.ts";
import { createFaultState } from "../../faults/fault-state.ts";
import type { Dialect } from "./dialect.ts";
import type { EngineLog } from "./engine-log.ts";
import type { ProcessPorts } from "./process-ports.ts";
import type { ServeSettings } from "./serve-settings.ts";
import type { ServerState } from "./server-state.ts";

/** The parts of one simulated engine, connected. */
export interface AssembledEngine {
  readonly state: ServerState;
  readonly clock: SimClock;
  readonly termination: Termination;
  readonly controls: Omit<Controls, "crash">;
}

export interface AssembleParts {
  readonly dialect: Dialect;
  readonly settings: ServeSettings;
  readonly log: EngineLog;
  readonly ports: ProcessPorts;
  readonly crash: () => void;
}

export function assembleEngine({ dialect, settings, log, ports, crash }: AssembleParts): AssembledEngine {
  let { latency } = settings.sim;
  const clock = createSimClock(ports.monotonicMs, settings.sim.clockFactor);
  const faults = createFaultState(settings.sim.faults);
  const kv = createKvCache({
    blocks: settings.kvBlocks,
    blockSize: settings.blockSize,
    prefixCaching: settings.prefixCaching,
  });
  const scheduler = createScheduler({
    maxNumSeqs: settings.maxNumSeqs,
    maxQueuedRequests: settings.maxQueuedRequests,
    maxQueuedTokens: settings.maxQueuedTokens,
    kv,
    latency: () => latency,
    random: createRandom(settings.sim.seed),
  });
  const stats = createEngineStats();
  const engine = createEngine({
    scheduler,
    clock,
    stats,
    onRequestEnd(ended) {
      const fault = faults.find("crash-after-requests");
      if (fault !== undefined && ended >= fault.requests) {
        // The last request's answer still leaves: the crash hits whoever comes next or is still running.
        setImmediate(crash);
      }
    },
  });

  const obeyHang = () => {
    clock.setPaused(faults.find("hang") !== undefined);
    engine.clockChanged();
  };
  obeyHang();
  faults.onChange(obeyHang);

  return {
    clock,
    termination: createTermination(faults),
    controls: {
      clock,
      faults,
      latency: () => latency,
      setLatency: (next) => {
        latency = next;
      },
      clockChanged: () => engine.clockChanged(),
    },
    state: {
      dialect,
      settings,
      clock,
      engine,
      scheduler,
      kv,
      stats,
      faults,
      log,
      startedSeconds: Math.floor(ports.wallClockMs() / 1000),
      wallClockMs: ports.wallClockMs,
      crash,
      starting: true,
      draining: false,
      load: 0,
      generationRequests: 0,
      nextRequestNumber: 0,
    },
  };
}
