import type { Clock, Logger, RunGroupPart } from "@llmgw/service";
import type { ClientListener } from "./http/client-listener.ts";
import type { Registry } from "./registry/registry.ts";

export interface DataPlaneOptions {
  readonly listener: ClientListener;
  readonly registry: Registry;
  /** Run beside the listener and on until its last answer has ended: timers, probes, the link to the admin. */
  readonly companions: readonly Pick<RunGroupPart, "name" | "run">[];
  readonly graceMs: () => number;
  /** Called once nothing is in flight any more, before the program ends. */
  readonly onDrained: () => Promise<void>;
  readonly onListening: (url: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Waiting requests are looked at this often besides: a cooldown may have ended without anything else happening. */
const PUMP_MS = 100;

/**
 * The router's whole request path as one part of the program, since its end has an order: stop listening, let open answers
 * end while probes and reports go on, then stop those and say goodbye.
 */
export function dataPlane(options: DataPlaneOptions): RunGroupPart {
  const { listener, registry, companions, clock, log } = options;
  return {
    name: "data plane",
    run: async (signal) => {
      const stop = new AbortController();
      const { url } = await listener.listen();
      options.onListening(url);
      log.info({ url }, "client listener ready");
      const running = [...companions, pumping(registry, clock)].map((part) => supervised(part, stop));
      await eitherAborted(signal, stop.signal);
      await listener.drain(options.graceMs());
      stop.abort(new Error("the router has drained"));
      const endings = await Promise.allSettled(running);
      for (const endpoint of registry.endpoints) await endpoint.destroy();
      await options.onDrained();
      for (const ending of endings) if (ending.status === "rejected") throw ending.reason;
    },
  };
}

function pumping(registry: Registry, clock: Clock): Pick<RunGroupPart, "name" | "run"> {
  return {
    name: "queue",
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(PUMP_MS, signal);
        registry.pump();
      }
    },
  };
}

/** Runs a companion; one that fails stops the others and is the program's failure. */
async function supervised(part: Pick<RunGroupPart, "name" | "run">, stop: AbortController): Promise<void> {
  try {
    await part.run(stop.signal);
  } catch (error) {
    if (stop.signal.aborted && error === stop.signal.reason) return;
    stop.abort(error);
    throw new Error(`the router's ${part.name} failed`, { cause: error });
  }
}

function eitherAborted(first: AbortSignal, second: AbortSignal): Promise<void> {
  const either = AbortSignal.any([first, second]);
  if (either.aborted) return Promise.resolve();
  return new Promise((resolve) => either.addEventListener("abort", () => resolve(), { once: true }));
}
