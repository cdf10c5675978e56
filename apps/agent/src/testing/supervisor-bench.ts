import { readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ShardObservation } from "@llmgw/domain";
import type { EngineAdapter } from "@llmgw/engines";
import { createLogger, systemClock } from "@llmgw/service";
import { createPortPicker } from "../processes/ports.ts";
import { openShardRecords } from "../processes/shard-record.ts";
import { systemProcessTable } from "../processes/system-process-table.ts";
import type { SuperviseContext } from "../supervise/context.ts";
import { defaultSuperviseSettings } from "../supervise/shard-state.ts";
import { Supervisor, type SupervisorEnd } from "../supervise/supervisor.ts";
import { timings } from "../supervise/timings.ts";
import { until } from "./until.ts";

const scale = 0.1;
const tinyEngine = fileURLToPath(new URL("./tiny-engine.mjs", import.meta.url));

/** The tiny engine of `tiny-engine.mjs`, under the simulator's name. */
const tinyAdapter: EngineAdapter = {
  name: "sim",
  program: null,
  launch: ({ host, port, modelId, apiKey }) => ({
    argv: [process.execPath, tinyEngine, host, String(port), modelId],
    env: { VLLM_API_KEY: apiKey },
    files: [],
    startsAfter: [],
  }),
  readiness: () => ({ kind: "http", healthPath: "/health", alivePath: "/health", modelsPath: "/v1/models" }),
  metricsPath: "/metrics",
  progress: () => null,
  classifyExit: ({ code, signal, logTail }) => ({
    category: logTail.some((line) => line.includes("address already in use")) ? "port_in_use" : "crash",
    cause: `ended with ${signal ?? code}: ${logTail.at(-1) ?? ""}`,
    hint: null,
  }),
  work: (text) => ({ running: Number(/work (\d+)/.exec(text)?.[1]), waiting: 0, steps: null }),
};

/** Ports that no other test of this package uses at the same time, from the range tests may use. */
let nextPorts = 21_300;

/** A supervisor over real processes in a folder of its own. `await using` ends everything it started. */
export class SupervisorBench implements AsyncDisposable {
  readonly dir: string;
  readonly context: SuperviseContext;
  readonly ports: { readonly first: number; readonly last: number };
  #supervisor: Supervisor | null = null;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(dir: string, context: SuperviseContext, ports: { first: number; last: number }) {
    this.dir = dir;
    this.context = context;
    this.ports = ports;
  }

  static async create(): Promise<SupervisorBench> {
    const dir = await mkdtemp(join(tmpdir(), "llmgw-agent-"));
    await mkdir(join(dir, "work"));
    const ports = { first: nextPorts, last: nextPorts + 4 };
    nextPorts += 5;
    const context: SuperviseContext = {
      clock: systemClock,
      log: createLogger({ name: "agent", level: "silent" }),
      timings: timings(scale),
      settings: { ...defaultSuperviseSettings, ownKillAfterMs: 300 },
      registry: new Map([["sim", tinyAdapter]]),
      records: await openShardRecords(join(dir, "shards")),
      table: systemProcessTable(),
      bootId: "boot-1",
      owner: dir.replaceAll("/", "_"),
      desiredPath: join(dir, "desired.json"),
      logsDir: join(dir, "logs"),
      privateDir: join(dir, "private"),
      workDir: join(dir, "work"),
      advertise: "127.0.0.31",
      ports: createPortPicker(ports),
      gpus: {
        resolve: async (uuids) => ({
          kind: "found",
          gpus: uuids.map((uuid, index) => ({ uuid, index, vendor: "nvidia" as const })),
        }),
      },
      modelsDir: null,
      environment: {
        own: { PATH: "/usr/bin:/bin", HOME: "/root", LLMGW_JOIN_TOKEN: "jt-secret", CUDA_VISIBLE_DEVICES: "2" },
        file: { HF_TOKEN: "file-secret-value" },
      },
      ownSecrets: ["jt-secret"],
    };
    return new SupervisorBench(dir, context, ports);
  }

  get supervisor(): Supervisor {
    if (this.#supervisor === null) throw new Error("start() comes first");
    return this.#supervisor;
  }

  /** Starts an agent on the folder, as a process start would. */
  async start(end: SupervisorEnd = { stopEngines: false, killAfterMs: 500 }): Promise<Supervisor> {
    this.#supervisor = new Supervisor(this.context, end);
    await this.#supervisor.start();
    this.#stop = new AbortController();
    this.#running = this.#supervisor.run(this.#stop.signal);
    return this.#supervisor;
  }

  /** Ends the agent; its engines run on unless it was started to stop them. */
  async end(): Promise<void> {
    this.#stop.abort(new Error("test"));
    await this.#running;
  }

  /** The first observation that satisfies the test. */
  async observed(wanted: (shard: ShardObservation) => boolean): Promise<ShardObservation> {
    return await until(`a shard as wanted among ${JSON.stringify(this.supervisor.observations())}`, () =>
      this.supervisor.observations().find(wanted),
    );
  }

  /** The pids of live processes that carry a token of this bench. */
  livePids(): number[] {
    const { table, owner } = this.context;
    return table.list().flatMap(({ pid }) => (table.shardToken(pid)?.startsWith(`${owner}/`) === true ? [pid] : []));
  }

  log(replicaId: string, generation = 1): string {
    return readFileSync(join(this.dir, "logs", replicaId, "0", `${generation}.log`), "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    for (const pid of this.livePids()) process.kill(pid, "SIGKILL");
    await rm(this.dir, { recursive: true, force: true });
  }
}
