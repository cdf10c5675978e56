import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { Clock } from "@llmgw/service";

export interface ChildSpec {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Gets each line of standard output; without it standard output goes to the log file too. */
  readonly onLine?: (line: string) => void;
  /** What it gets to end after SIGTERM before SIGTERM again, and then before SIGKILL, ms. */
  readonly stopMs: number;
  /** Whether the cluster runs already: then a child that ends as misconfigured is tried again like any other. */
  readonly established: () => boolean;
}

const restartFirstMs = 500;
const restartMaxMs = 10_000;
/** A child that ran this long has its next restart at the first step again. */
const settledMs = 30_000;
/** A program's exit code for a wrong setting or a busy port: while the cluster comes up, that ends it all. */
const exitMisconfigured = 2;

/** One supervised program: started again when it dies by itself (0.5 s, doubling to 10 s), until it is stopped. */
export class Child {
  readonly spec: ChildSpec;
  readonly #clock: Clock;
  readonly #say: (line: string) => void;
  #process: ChildProcess | null = null;
  #exited: Promise<void> = Promise.resolve();

  constructor(spec: ChildSpec, clock: Clock, say: (line: string) => void) {
    this.spec = spec;
    this.#clock = clock;
    this.#say = say;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /**
   * Keeps it running until the signal aborts, then stops it. Rejects when it ends as misconfigured before the cluster
   * runs; later the other programs serve on, so it only says so, and tries again.
   */
  async run(signal: AbortSignal): Promise<void> {
    let delayMs = restartFirstMs;
    while (!signal.aborted) {
      const startedMs = this.#clock.monotonicMs();
      const ended = this.#start();
      const outcome = await Promise.race([ended, aborted(signal)]);
      if (outcome === "aborted") return this.#stop();
      if (outcome.code === exitMisconfigured) {
        const problem = `${this.spec.name} cannot start:\n${this.logTail(6)}`;
        if (!this.spec.established()) throw new Error(problem);
        this.#say(problem);
      }
      if (this.#clock.monotonicMs() - startedMs > settledMs) delayMs = restartFirstMs;
      this.#say(`${this.spec.name} ended (${outcome.words}); starting it again in ${delayMs / 1000} s`);
      const waited = await Promise.race([
        this.#clock.sleep(delayMs, signal).catch(() => "aborted" as const),
        aborted(signal),
      ]);
      if (waited === "aborted") return;
      delayMs = Math.min(delayMs * 2, restartMaxMs);
    }
  }

  /** The last lines of its log, for an error message. */
  logTail(lines: number): string {
    try {
      return readFileSync(this.spec.logFile, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
    } catch (error) {
      return `(its log cannot be read: ${error instanceof Error ? error.message : String(error)})`;
    }
  }

  #start(): Promise<{ code: number | null; words: string }> {
    const log = openSync(this.spec.logFile, "a", 0o600);
    const [command, ...args] = this.spec.command;
    // A group of its own, so that Ctrl-C in the terminal reaches only the supervisor, which stops things in order.
    const child = spawn(command, args, {
      env: this.spec.env,
      detached: true,
      stdio: ["ignore", this.spec.onLine === undefined ? log : "pipe", log],
    });
    closeSync(log);
    this.#process = child;
    if (this.spec.onLine !== undefined) readLines(child, this.spec.onLine);
    const ended = new Promise<{ code: number | null; words: string }>((resolve) => {
      child.on("error", (error) => resolve({ code: null, words: error.message }));
      child.on("exit", (code, signal) => resolve({ code, words: signal ?? `exit code ${code}` }));
    });
    this.#exited = ended.then(() => undefined);
    return ended;
  }

  async #stop(): Promise<void> {
    for (const signal of ["SIGTERM", "SIGTERM", "SIGKILL"] as const) {
      this.#process?.kill(signal);
      const patience = new AbortController();
      const late = this.#clock.sleep(this.spec.stopMs, patience.signal).catch(() => undefined);
      const ended = await Promise.race([this.#exited.then(() => true), late.then(() => false)]);
      patience.abort();
      if (ended) return;
    }
    this.#say(`${this.spec.name} (pid ${this.pid}) survives SIGKILL`);
  }
}

function readLines(child: ChildProcess, onLine: (line: string) => void): void {
  let rest = "";
  child.stdout?.setEncoding("utf8");
  child.stdout?.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
}

function aborted(signal: AbortSignal): Promise<"aborted"> {
  if (signal.aborted) return Promise.resolve("aborted");
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted"), { once: true }));
}
