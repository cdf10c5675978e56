import type { GpuFacts } from "@llmgw/domain";
import type { Clock, Logger, RunGroupPart } from "@llmgw/service";
import type { GpuResolution, GpuResolver } from "../supervise/context.ts";
import { pause } from "../supervise/repeat.ts";
import type { GpuLook, GpuSource } from "./gpu-source.ts";

export interface GpuMonitorOptions {
  readonly source: GpuSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly everyMs: number;
}

/** What is reported: the last facts, and why they are none or may be old. */
export interface GpuReport {
  /** Null before the first answer, and while the probe fails. */
  readonly gpus: readonly GpuFacts[] | null;
  readonly error: string | null;
}

/** Looks at the GPUs now and then, beside the heartbeat, which only ever reads the last result. */
export class GpuMonitor implements RunGroupPart, GpuResolver {
  readonly name = "gpus";
  readonly #options: GpuMonitorOptions;
  #report: GpuReport = { gpus: null, error: null };
  #looking: Promise<void> | null = null;
  #changeListener: () => void = () => undefined;

  constructor(options: GpuMonitorOptions) {
    this.#options = options;
  }

  get report(): GpuReport {
    return this.#report;
  }

  /** Called when a fact changed that decisions rest on: which GPUs there are, their faults, whether they can be read. */
  onChange(listener: () => void): void {
    this.#changeListener = listener;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, everyMs } = this.#options;
    while (!signal.aborted) {
      await this.#look();
      await pause(clock, everyMs, signal);
    }
  }

  async resolve(uuids: readonly string[]): Promise<GpuResolution> {
    if (uuids.length === 0) return { kind: "found", gpus: [] };
    await this.#look();
    const { gpus, error } = this.#report;
    if (gpus === null) return { kind: "unreadable", problem: error ?? "they have not been looked at" };
    const byUuid = new Map(gpus.map((gpu) => [gpu.uuid, gpu]));
    const missing = uuids.filter((uuid) => !byUuid.has(uuid));
    if (missing.length > 0) return { kind: "missing", uuids: missing };
    return {
      kind: "found",
      gpus: uuids.flatMap((uuid) => byUuid.get(uuid) ?? []).map(({ uuid, index, vendor }) => ({ uuid, index, vendor })),
    };
  }

  /** One look at a time: who asks while one is under way waits for that one. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const { source, log } = this.#options;
    const look: GpuLook = await source.look().catch((error: unknown) => {
      log.error({ error }, "looking at the GPUs failed");
      return { kind: "failed", problem: error instanceof Error ? error.message : String(error) } as const;
    });
    const next: GpuReport =
      look.kind === "seen" ? { gpus: look.gpus, error: look.warning } : { gpus: null, error: look.problem };
    const isChanged = decisive(next) !== decisive(this.#report);
    if (isChanged && next.error !== null) log.warn({ problem: next.error }, "GPU probe");
    this.#report = next;
    if (isChanged) this.#changeListener();
  }
}

/** What a decision may rest on, as one text: the load of a GPU and its temperature are not news. */
function decisive({ gpus, error }: GpuReport): string {
  // A stuck probe's message counts seconds.
  const said = error?.replace(/\d+/g, "#") ?? null;
  return JSON.stringify([
    said,
    gpus?.map(({ uuid, index, totalMib, eccUncorrected, migMode, faults }) => [
      ...[uuid, index, totalMib, eccUncorrected, migMode],
      faults,
    ]),
  ]);
}
