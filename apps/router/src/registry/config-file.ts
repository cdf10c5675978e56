import { readFile } from "node:fs/promises";
import { type Clock, ConfigError, type Logger, type RunGroupPart } from "@llmgw/service";
import { parseDocument } from "yaml";
import { shareOf, type WorkerShare } from "../workers/worker-share.ts";
import type { Registry } from "./registry.ts";
import { readStaticConfig, type StaticConfig } from "./static-config.ts";

type ConfigReading =
  | { readonly kind: "ok"; readonly text: string; readonly config: StaticConfig }
  | { readonly kind: "invalid"; readonly text: string | null; readonly problems: readonly string[] };

/** How often the file is looked at. */
const LOOK_MS = 1_000;

/** The only process there is. */
const WHOLE: WorkerShare = { index: 0, count: 1 };

/** Reads and checks a router.yaml. Every problem names the file and the field. */
async function readConfigFile(path: string, version: number, share: WorkerShare): Promise<ConfigReading> {
  const read = await readText(path);
  if (read.kind === "unreadable") return { kind: "invalid", text: null, problems: [read.problem] };
  const { text } = read;
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0) {
    return { kind: "invalid", text, problems: document.errors.map(({ message }) => `${path}: ${message}`) };
  }
  const whole = readStaticConfig(document.toJS(), version);
  const reading = whole.kind === "ok" && share.count > 1 ? shareOf(whole.config, share) : whole;
  if (reading.kind === "ok") return { kind: "ok", text, config: reading.config };
  return { kind: "invalid", text, problems: reading.problems.map((problem) => `${path}: ${problem}`) };
}

/** Reads the file for a start, and a worker's share of it; a bad one is a `ConfigError`. */
export async function requireConfigFile(
  path: string,
  share: WorkerShare = WHOLE,
): Promise<{ text: string; config: StaticConfig }> {
  const reading = await readConfigFile(path, 1, share);
  if (reading.kind === "invalid") throw new ConfigError(reading.problems);
  return reading;
}

export interface ConfigFileOptions {
  readonly path: string;
  /** The text that is in force. */
  readonly text: string;
  readonly config: StaticConfig;
  /** Which part of the file's limits is this process's, if it is one of several. */
  readonly share?: WorkerShare;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps the registry in step with the file: on SIGHUP at once, else soon after it changed. A bad file changes nothing. */
export class ConfigFile implements RunGroupPart {
  readonly name = "config file";
  readonly #options: ConfigFileOptions;
  #config: StaticConfig;
  /** The text last looked at, good or bad; null for a file that could not be read. */
  #seen: string | null;
  #problems: readonly string[] = [];
  #version = 1;

  constructor(options: ConfigFileOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#seen = options.text;
  }

  /** What is wrong with the file as it is now; empty while it is the one in force. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let hurry = new AbortController();
    const onHangUp = () => hurry.abort();
    process.on("SIGHUP", onHangUp);
    try {
      while (!signal.aborted) {
        await clock.sleep(LOOK_MS, AbortSignal.any([signal, hurry.signal])).catch((error: unknown) => {
          if (!signal.aborted && !hurry.signal.aborted) throw error;
        });
        if (signal.aborted) return;
        const isAsked = hurry.signal.aborted;
        if (isAsked) hurry = new AbortController();
        await this.look(isAsked);
      }
    } finally {
      process.off("SIGHUP", onHangUp);
    }
  }

  /** Reads the file and puts it in force if it is another one; when `isAsked`, says so in any case. */
  async look(isAsked: boolean): Promise<void> {
    const { path, registry, log, share = WHOLE } = this.#options;
    const reading = await readConfigFile(path, this.#version + 1, share);
    if (!isAsked && reading.text === this.#seen) return;
    this.#seen = reading.text;
    if (reading.kind === "invalid") {
      this.#problems = reading.problems;
      log.error({ problems: reading.problems }, "the config file is not good; the router goes on with the one before");
      return;
    }
    this.#version += 1;
    this.#problems = [];
    this.#warnOfListeners(reading.config);
    this.#config = reading.config;
    registry.apply(reading.config.table, reading.config.settings);
    log.info({ path, models: reading.config.table.models.length }, "the config file is in force");
  }

  #warnOfListeners({ listen, diagnostics }: StaticConfig): void {
    const isSame =
      JSON.stringify([listen, diagnostics]) === JSON.stringify([this.#config.listen, this.#config.diagnostics]);
    if (!isSame) this.#options.log.warn("another listen address takes a restart; the listeners stay as they are");
  }
}

async function readText(path: string): Promise<{ kind: "ok"; text: string } | { kind: "unreadable"; problem: string }> {
  try {
    return { kind: "ok", text: await readFile(path, "utf8") };
  } catch (error) {
    return { kind: "unreadable", problem: `${path} cannot be read: ${error instanceof Error ? error.message : error}` };
  }
}
