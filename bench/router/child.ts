import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** A line of its output that says where it listens; without one its fixed port is tried until it answers. */
  readonly portOf?: (line: string) => number | null;
  readonly port?: number;
  readonly cwd?: string;
}

const TICKS_PER_SECOND = 100; // Linux: USER_HZ
const PAGE_BYTES = 4_096;
const START_MS = 20_000;

/** A process of the bench with what it costs: CPU time and memory of it and of all it started. */
export class Child {
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;
  readonly port: number;

  private constructor(child: ChildProcess, exited: Promise<void>, port: number) {
    this.#process = child;
    this.#exited = exited;
    this.port = port;
  }

  static async start(options: ChildOptions): Promise<Child> {
    const { command, args, portOf, port, cwd } = options;
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
    });
    let output = "";
    const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const failed = new Promise<never>((_, reject) => {
      child.once("error", reject);
      child.once("close", (code) => reject(new Error(`${command} ended with ${code}: ${output.slice(-2_000)}`)));
    });
    failed.catch(() => undefined);
    const found = new Promise<number>((resolve) => {
      const read = (data: Buffer) => {
        output = (output + data.toString()).slice(-20_000);
        if (portOf === undefined) return;
        for (const line of data.toString().split("\n")) {
          const named = portOf(line);
          if (named !== null) resolve(named);
        }
      };
      child.stdout?.on("data", read);
      child.stderr?.on("data", read);
    });
    const ready = portOf === undefined ? answering(port ?? 0) : found;
    const deadline = AbortSignal.timeout(START_MS);
    const late = new Promise<never>((_, reject) => {
      deadline.addEventListener("abort", () => reject(new Error(`${command} did not start: ${output.slice(-2_000)}`)));
    });
    late.catch(() => undefined);
    return new Child(child, exited, await Promise.race([ready, failed, late]));
  }

  /** CPU time used so far, in milliseconds. */
  get cpuMs(): number {
    const ticks = this.#pids().reduce((sum, pid) => {
      const fields = statOf(pid);
      return sum + Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
    }, 0);
    return (ticks * 1_000) / TICKS_PER_SECOND;
  }

  get rssBytes(): number {
    return this.#pids().reduce((sum, pid) => sum + Number(statOf(pid)[21] ?? 0) * PAGE_BYTES, 0);
  }

  async stop(): Promise<void> {
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 3_000);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Its process and all below it. */
  #pids(): number[] {
    const parents = new Map<number, number>();
    for (const name of readdirSync("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const parent = statOf(Number(name))[1];
      if (parent !== undefined) parents.set(Number(name), Number(parent));
    }
    const found = [this.#process.pid ?? -1];
    for (const pid of found) for (const [child, parent] of parents) if (parent === pid) found.push(child);
    return found;
  }
}

/** Fields of /proc/PID/stat behind the program's name, from the third on; none if the process is gone. */
function statOf(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

async function answering(port: number): Promise<number> {
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isOpen) return port;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
