import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const program = join(import.meta.dirname, "../main.ts");
const tsx = createRequire(import.meta.url).resolve("tsx");

/** A router as a process of its own, as an operator runs it. */
export class RouterProcess {
  readonly #child: ChildProcess;
  readonly #lines: Record<string, unknown>[] = [];
  readonly #waiting = new Set<() => void>();
  readonly exited: Promise<number | null>;
  stderr = "";
  #hasExited = false;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const listeners = ["--listen", "127.0.0.1:0", "--diag-listen", "127.0.0.1:0"];
    this.#child = spawn(process.execPath, ["--import", `file://${tsx}`, program, ...listeners, ...args], {
      env, // nothing of this machine's own settings
      stdio: ["ignore", "pipe", "pipe"],
    });
    let rest = "";
    this.#child.stdout?.on("data", (data: Buffer) => {
      const parts = (rest + data.toString()).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) this.#lines.push(JSON.parse(part));
      this.#notify();
    });
    this.#child.stderr?.on("data", (data: Buffer) => {
      this.stderr += data.toString();
    });
    this.exited = new Promise((resolve) => {
      this.#child.once("exit", (code) => {
        this.#hasExited = true;
        this.#notify();
        resolve(code);
      });
    });
  }

  /** The whole log, as text. */
  get log(): string {
    return this.#lines.map((line) => JSON.stringify(line)).join("\n");
  }

  /** The port of the client listener, once it listens. */
  async port(): Promise<number> {
    return portOf(await this.logged("client listener ready"));
  }

  async diagnosticsPort(): Promise<number> {
    return portOf(await this.logged("diagnostics listener ready"));
  }

  /** Resolves with the first line of the log with this message. */
  async logged(message: string): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.#lines.find((line) => line["msg"] === message);
      if (found !== undefined) return found;
      if (this.#hasExited) throw new Error(`the router ended: ${this.stderr}\n${this.log}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    if (!this.#hasExited) this.#child.kill("SIGKILL");
    await this.exited;
  }

  #notify(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

function portOf(line: Record<string, unknown>): number {
  return Number(new URL(String(line["url"])).port);
}
