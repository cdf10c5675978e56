import type { RunnableEngine } from "@llmgw/domain";
import type { EngineRegistry } from "@llmgw/engines";
import type { Clock, Logger, RunGroupPart } from "@llmgw/service";
import { runTool } from "./gpus/run-tool.ts";
import { pause } from "./supervise/repeat.ts";

export interface EngineFinderOptions {
  readonly registry: EngineRegistry;
  /** The version of engines that come with the agent. */
  readonly ownVersion: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly everyMs: number;
}

/** Importing an engine's libraries alone takes most of a minute on a cold disk. */
const versionTimeoutMs = 120_000;
const killAfterMs = 5_000;

/** Which engines this node can run: those that come with the agent, and those whose program is on PATH. */
export class EngineFinder implements RunGroupPart {
  readonly name = "engines";
  readonly #options: EngineFinderOptions;
  #found: readonly RunnableEngine[];
  #changeListener: () => void = () => undefined;

  constructor(options: EngineFinderOptions) {
    this.#options = options;
    this.#found = [...options.registry.values()].flatMap(({ name, program }) =>
      program === null ? [{ name, version: options.ownVersion }] : [],
    );
  }

  get found(): readonly RunnableEngine[] {
    return this.#found;
  }

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

  async #look(): Promise<void> {
    const { registry, ownVersion, env, clock, log } = this.#options;
    const found: RunnableEngine[] = [];
    for (const { name, program } of registry.values()) {
      if (program === null) {
        found.push({ name, version: ownVersion });
        continue;
      }
      const options = {
        program: program.name,
        args: program.versionArgs,
        env,
        timeoutMs: versionTimeoutMs,
        killAfterMs,
        clock,
      };
      const outcome = await runTool(options);
      if (outcome.kind === "absent") continue;
      // It is there but cannot say its version: a start will show why.
      const text = outcome.kind === "ended" && outcome.code === 0 ? outcome.stdout : "";
      found.push({ name, version: /\d+\.\d+[\w.+-]*/.exec(text)?.[0] ?? null });
    }
    if (JSON.stringify(found) === JSON.stringify(this.#found)) return;
    log.info({ engines: found }, "engines found");
    this.#found = found;
    this.#changeListener();
  }
}
