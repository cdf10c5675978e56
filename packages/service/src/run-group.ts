import { type Clock, systemClock } from "./clock.ts";
import { ConfigError } from "./config-error.ts";
import type { Logger } from "./logger.ts";
import { type StopSignal, watchStopSignals } from "./stop-signals.ts";

/** A long-running part of a program. `run` works until its signal aborts, then finishes and settles. */
export interface RunGroupPart {
  readonly name: string;
  /** Rejecting with the signal's own reason (as an interrupted sleep does) after the abort counts as a clean end. */
  run(signal: AbortSignal): Promise<void>;
  /** Keeps running until every other part has ended: metrics and health stay readable while a program drains. */
  readonly stopsLast?: boolean;
}

export interface RunGroupOptions {
  readonly parts: readonly RunGroupPart[];
  readonly log: Logger;
  /** How long all parts together may take to end once one settled or a signal came. */
  readonly shutdownDeadlineMs: number;
  /** Listen for SIGTERM and SIGINT; true unless false is given. */
  readonly signals?: boolean;
  readonly clock?: Clock;
}

type Ending = { readonly kind: "ended" } | { readonly kind: "failed"; readonly error: unknown };

/**
 * Runs the parts of a program, started in order. The first part to settle, or SIGTERM or SIGINT, aborts the rest, and
 * all get one deadline to end. Resolves to the exit code: 0 when every part ended cleanly, 1 when one failed or was
 * still running at the deadline. Rejects only with the `ConfigError` of a part (a busy port), once all have ended, so that
 * `runMain` can tell it to a person. A second signal more than 1 s after the first ends the process at once.
 */
export async function runGroup(options: RunGroupOptions): Promise<number> {
  const { parts, log, clock = systemClock } = options;
  const stop = new AbortController();
  const stopLast = new AbortController();
  const running = new Set<string>();
  const settled = new AbortController(); // ends the deadline's own sleep
  let failed = false;
  let misconfigured: ConfigError | undefined;

  const requestStop = (reason: string) => {
    if (stop.signal.aborted) return;
    log.info({ reason }, "stopping");
    stop.abort(new Error(reason));
  };
  if (options.signals !== false) {
    watchStopSignals({ log, clock, onStop: (signal: StopSignal) => requestStop(`received ${signal}`) });
  }

  const runPart = async (part: RunGroupPart): Promise<void> => {
    const signal = part.stopsLast === true ? stopLast.signal : stop.signal;
    running.add(part.name);
    const ending = await settle(part, signal);
    running.delete(part.name);
    if (ending.kind === "failed" && ending.error instanceof ConfigError) {
      misconfigured ??= ending.error;
    } else if (ending.kind === "failed") {
      failed = true;
      log.error({ part: part.name, error: ending.error }, "part failed");
    }
    requestStop(`part "${part.name}" ${ending.kind}`);
  };
  const first = parts.filter((part) => part.stopsLast !== true);
  const last = parts.filter((part) => part.stopsLast === true);
  const started = new Map(parts.map((part) => [part, runPart(part)]));
  const endOf = (some: readonly RunGroupPart[]) => Promise.all(some.map((part) => started.get(part)));

  const allEnded = (async () => {
    await aborted(stop.signal);
    await endOf(first);
    stopLast.abort(stop.signal.reason);
    await endOf(last);
    return "ended" as const;
  })();
  const deadline = (async () => {
    await aborted(stop.signal);
    return expires(clock, options.shutdownDeadlineMs, settled.signal);
  })();
  const outcome = await Promise.race([allEnded, deadline]);
  settled.abort();
  if (outcome === "expired") {
    log.error(
      { parts: [...running], shutdownDeadlineMs: options.shutdownDeadlineMs },
      "parts still running at the shutdown deadline",
    );
    stopLast.abort(stop.signal.reason);
  }
  if (misconfigured !== undefined) throw misconfigured;
  return failed || outcome === "expired" ? 1 : 0;
}

async function settle(part: RunGroupPart, signal: AbortSignal): Promise<Ending> {
  try {
    await part.run(signal);
    return { kind: "ended" };
  } catch (error) {
    return signal.aborted && isAbort(error, signal) ? { kind: "ended" } : { kind: "failed", error };
  }
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === "AbortError");
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

async function expires(clock: Clock, ms: number, settled: AbortSignal): Promise<"expired" | "settled"> {
  try {
    await clock.sleep(ms, settled);
    return "expired";
  } catch (error) {
    if (settled.aborted) return "settled"; // the group ended first, and no longer reads this
    throw error;
  }
}
