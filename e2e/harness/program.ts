import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { programCommand } from "@llmgw/service";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** One program of llmgw as a real process, started through the `llmgw` executable's own entry files. */
export class Program {
  readonly name: string;
  readonly logFile: string;
  readonly #args: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #exited: Promise<number | null> = Promise.resolve(null);

  constructor(options: {
    name: string;
    args: readonly string[];
    env: Readonly<Record<string, string>>;
    logFile: string;
  }) {
    this.name = options.name;
    this.logFile = options.logFile;
    this.#args = options.args;
    this.#env = options.env;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): this {
    mkdirSync(dirname(this.logFile), { recursive: true });
    const log = openSync(this.logFile, "a");
    const path = process.env["PATH"] ?? "";
    const child = spawn(process.execPath, [...this.#args], {
      env: { PATH: path, HOME: process.env["HOME"] ?? "/", ...this.#env },
      stdio: ["ignore", log, log],
      detached: true,
    });
    closeSync(log);
    this.#child = child;
    this.#exited = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
    return this;
  }

  /** kill -9 of the process itself (its engines are not its group's members). */
  async kill(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#exited;
  }

  /** kill -9 of the process and everything below it: how a database server dies whose wrapper only watches it. */
  async killTree(): Promise<void> {
    if (this.pid !== undefined) for (const pid of descendants(this.pid)) kill(pid);
    await this.kill();
  }

  /** Freezes (SIGSTOP) or thaws the process. */
  freeze(isFrozen: boolean): void {
    this.#child?.kill(isFrozen ? "SIGSTOP" : "SIGCONT");
  }

  async stop(): Promise<number | null> {
    if (this.#child === null || this.#child.exitCode !== null) return this.#child?.exitCode ?? null;
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#child?.kill("SIGKILL"), 20_000);
    const code = await this.#exited;
    clearTimeout(late);
    return code;
  }

  log(): string {
    return readFileSync(this.logFile, "utf8");
  }
}

/** The arguments (after Node's own path) that start one of the product's programs. */
export function entry(app: string, file: string, args: readonly string[] = []): string[] {
  return [...programCommand({ root, app, entry: file }).slice(1), ...args];
}

function descendants(pid: number): number[] {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap(descendants)];
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // it is gone
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it is gone
  }
}
