import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemProcessTable } from "../processes/system-process-table.ts";
import { until } from "./until.ts";

export interface AgentProcessOptions {
  readonly adminUrl: string;
  readonly address: string;
  readonly ports: string;
  readonly gpus: string;
}

/** The real agent program on a folder of its own. `await using` ends it and every engine it left. */
export class AgentProcess implements AsyncDisposable {
  readonly dir: string;
  /** All that it has said, over all starts. */
  output = "";
  #startedAt = 0;
  readonly #options: AgentProcessOptions;
  #child: ChildProcess | null = null;

  private constructor(dir: string, options: AgentProcessOptions) {
    this.dir = dir;
    this.#options = options;
  }

  static async create(options: AgentProcessOptions): Promise<AgentProcess> {
    return new AgentProcess(await mkdtemp(join(tmpdir(), "llmgw-agent-")), options);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  start(flags: readonly string[] = []): void {
    const { adminUrl, address, ports, gpus } = this.#options;
    this.#startedAt = this.output.length;
    this.#startedAt = this.output.length;
    const main = join(import.meta.dirname, "../main.ts");
    this.#child = spawn(process.execPath, ["--import", "tsx", main, "--gpus", gpus, "--time-scale", "0.2", ...flags], {
      cwd: join(import.meta.dirname, "../../../.."),
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: "/usr/bin:/bin",
        LLMGW_ADMIN_URL: adminUrl,
        LLMGW_JOIN_TOKEN: "join-token-1",
        LLMGW_NODE_NAME: "alpha",
        LLMGW_DATA_DIR: this.dir,
        LLMGW_AGENT_ADVERTISE: address,
        LLMGW_AGENT_PORTS: ports,
      },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.output += chunk;
      });
    }
  }

  /** Sends a signal and waits until the program has ended; answers its exit code. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    child.kill(signal);
    return await ended;
  }

  /** The address of its diagnostics listener, once this start of it has one. */
  async diagnosticsUrl(): Promise<string> {
    const pattern = /"url":"(http:[^"]+)","msg":"diagnostics listener ready"/;
    return await until(
      `the diagnostics listener; the agent said ${this.output}`,
      () => pattern.exec(this.output.slice(this.#startedAt))?.[1],
    );
  }

  /** What the program's own `/health` says. */
  async health(): Promise<Record<string, unknown>> {
    const url = await this.diagnosticsUrl();
    const response = await fetch(`${url}/health`);
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null ? { ...body } : {};
  }

  /** Live processes of engines that this agent, or an earlier one on its folder, started. */
  engines(): number[] {
    const table = systemProcessTable();
    const owners = new Set(
      [...this.output.matchAll(/"pid":(\d+),"port"/g)].flatMap((match) => table.shardToken(Number(match[1])) ?? []),
    );
    return table.list().flatMap(({ pid }) => (owners.has(table.shardToken(pid) ?? "") ? [pid] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
    for (const pid of this.engines()) process.kill(pid, "SIGKILL");
    await rm(this.dir, { recursive: true, force: true });
  }
}
