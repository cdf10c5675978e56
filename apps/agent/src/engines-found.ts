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
    const { log } = this.#options;
    const found = await lookForEngines(this.#options);
    if (JSON.stringify(found) === JSON.stringify(this.#found)) return;
    log.info({ engines: found }, "engines found");
    this.#found = found;
    this.#changeListener();
  }
}

/** Looks once, asking each program on PATH for its version. */
export async function lookForEngines({
  registry,
  ownVersion,
  env,
  clock,
}: Pick<EngineFinderOptions, "registry" | "ownVersion" | "env" | "clock">): Promise<RunnableEngine[]> {
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
    // It is there but cannot say its version: a start will show why. llama-server says it on stderr.
    const text = outcome.kind === "ended" && outcome.code === 0 ? `${outcome.stdout}\n${outcome.stderr}` : "";
    found.push({ name, version: versionIn(text) });
  }
  return found;
}

/** `vllm --version` says 0.33.0, `sglang version` "sglang version: 0.5.14", llama-server "version: 6123 (80fb11a)". */
export function versionIn(text: string): string | null {
  return /\d+\.\d+[\w.+-]*/.exec(text)?.[0] ?? /^version: (\d+)/m.exec(text)?.[1] ?? null;
}
