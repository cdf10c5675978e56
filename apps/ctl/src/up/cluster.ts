import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createLlmgwClient, type LlmgwClient } from "@llmgw/api";
import { type Clock, findListenerPid, hostPort, type ListenAddress, readJsonFile } from "@llmgw/service";
import { z } from "zod";
import { commandOf } from "../programs.ts";
import { Child, type ChildSpec } from "./child.ts";
import { until } from "./until.ts";

/** What the admin wrote at its first start: the cluster's first credentials. */
const credentialsFile = z.object({
  operatorToken: z.string(),
  joinToken: z.string(),
  routerToken: z.string(),
  apiKey: z.string(),
});
export type Credentials = z.infer<typeof credentialsFile>;

export interface ClusterOptions {
  readonly dataDir: string;
  readonly adminListen: ListenAddress;
  readonly routerListen: ListenAddress;
  readonly routerDiagListen: ListenAddress;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly say: (line: string) => void;
  /** A child could not be kept running: `up` has to end. */
  readonly onFailure: (error: unknown) => void;
}

/** The programs of one machine's cluster, started and stopped in order. */
export class LocalCluster {
  readonly adminUrl: string;
  readonly routerUrl: string;
  readonly routerDiagnosticsUrl: string;
  readonly #options: ClusterOptions;
  /** Started ones with what ends each, in starting order. */
  #established = false;
  readonly #running: { child: Child; stop: AbortController; done: Promise<void> }[] = [];

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.adminUrl = `http://${hostPort(options.adminListen)}`;
    this.routerUrl = `http://${hostPort(options.routerListen)}`;
    this.routerDiagnosticsUrl = `http://${hostPort(options.routerDiagListen)}`;
    mkdirSync(join(options.dataDir, "logs"), { recursive: true, mode: 0o700 });
  }

  get pids(): Record<string, number> {
    return Object.fromEntries(
      this.#running.flatMap(({ child }) => (child.pid === null ? [] : [[child.spec.name, child.pid]])),
    );
  }

  /** Everything came up: from now on one program's trouble ends none of the others. */
  establish(): void {
    this.#established = true;
  }

  /** Starts the embedded database and resolves to its URL. */
  async startPostgres(signal: AbortSignal): Promise<string> {
    let url: string | null = null;
    const child = this.#start({
      name: "postgres",
      command: commandOf("postgres", ["--data-dir", this.#options.dataDir, "--stop-with-parent"]),
      stopMs: 15_000,
      onLine: (line) => {
        url = readyUrl(line) ?? url;
      },
    });
    return this.#ready(child, { what: "the database", timeoutMs: 120_000, signal, ask: async () => url });
  }

  /** Starts the admin and resolves to the cluster's credentials and a client. */
  async startAdmin(
    databaseUrl: string,
    signal: AbortSignal,
  ): Promise<{ credentials: Credentials; client: LlmgwClient }> {
    const { dataDir, adminListen } = this.#options;
    const child = this.#start({
      name: "admin",
      command: commandOf("admin", ["--listen", hostPort(adminListen)]),
      env: { DATABASE_URL: databaseUrl, LLMGW_DATA_DIR: join(dataDir, "admin"), LLMGW_ROUTER_URL: this.routerUrl },
      stopMs: 5_000,
    });
    const ask = () => this.#answers(child, { url: `${this.adminUrl}/health`, port: adminListen.port });
    await this.#ready(child, { what: "the admin", timeoutMs: 60_000, signal, ask });
    const credentials = await this.credentials();
    if (credentials === null)
      throw new Error(`the admin writes its credentials at its start, and has not: ${dataDir}/admin`);
    return { credentials, client: createLlmgwClient({ url: this.adminUrl, token: credentials.operatorToken }) };
  }

  /** The credentials that the admin made at its first start; null before that. */
  async credentials(): Promise<Credentials | null> {
    const file = await readJsonFile(join(this.#options.dataDir, "admin", "credentials.json"), credentialsFile);
    return file.kind === "ok" ? file.value : null;
  }

  async startRouter(routerToken: string, signal: AbortSignal): Promise<void> {
    const { dataDir, routerListen, routerDiagListen } = this.#options;
    const listens = ["--listen", hostPort(routerListen), "--diag-listen", hostPort(routerDiagListen)];
    const child = this.#start({
      name: "router",
      command: commandOf("router", listens),
      env: { LLMGW_ADMIN_URL: this.adminUrl, LLMGW_ROUTER_TOKEN: routerToken, LLMGW_DATA_DIR: join(dataDir, "router") },
      stopMs: 5_000,
    });
    const ask = () => this.#answers(child, { url: `${this.routerUrl}/healthz`, port: routerListen.port });
    await this.#ready(child, { what: "the router", timeoutMs: 60_000, signal, ask });
  }

  /** Starts a simulated node. Its engines end with it. */
  startAgent(node: { name: string; gpus: string; joinToken: string; firstPort: number }): void {
    this.#start({
      name: node.name,
      command: commandOf("agent", ["--gpus", node.gpus, "--stop-engines-on-exit"]),
      env: {
        LLMGW_ADMIN_URL: this.adminUrl,
        LLMGW_JOIN_TOKEN: node.joinToken,
        LLMGW_NODE_NAME: node.name,
        LLMGW_AGENT_PORTS: `${node.firstPort}-${node.firstPort + 99}`,
        LLMGW_DATA_DIR: join(this.#options.dataDir, "agents", node.name),
      },
      stopMs: 12_000,
    });
  }

  /** Stops everything: routers first (no new requests), then agents with their engines, the admin, the database. */
  async stop(): Promise<void> {
    const waves = [/^router/, /^(?!admin$|postgres$)/, /^admin$/, /^postgres$/];
    for (const wave of waves) {
      const stopping = this.#running.filter(({ child }) => wave.test(child.spec.name));
      for (const { stop } of stopping) stop.abort();
      await Promise.all(stopping.map(({ done }) => done));
    }
  }

  #start(spec: Omit<ChildSpec, "env" | "logFile" | "established"> & { env?: Record<string, string> }): Child {
    const { clock, say, dataDir, env, onFailure } = this.#options;
    const logFile = join(dataDir, "logs", `${spec.name}.log`);
    const child = new Child(
      { ...spec, env: { ...env, ...spec.env }, logFile, established: () => this.#established },
      clock,
      say,
    );
    const stop = new AbortController();
    const done = child.run(stop.signal).catch(onFailure);
    this.#running.push({ child, stop, done });
    return child;
  }

  /** Whether the child answers there, and not somebody else who had the port first. */
  async #answers(child: Child, at: { url: string; port: number }): Promise<true | null> {
    if (!(await fetch(at.url, { signal: AbortSignal.timeout(2_000) })).ok) return null;
    const listener = await findListenerPid(at.port);
    return listener === undefined || listener === child.pid ? true : null;
  }

  async #ready<T>(
    child: Child,
    wait: { what: string; timeoutMs: number; signal: AbortSignal; ask: () => Promise<T | null> },
  ): Promise<T> {
    try {
      return await until(wait.ask, { ...wait, clock: this.#options.clock });
    } catch (error) {
      if (wait.signal.aborted) throw error;
      throw new Error(`${wait.what} did not start. The end of ${child.spec.logFile}:\n${child.logTail(12)}`, {
        cause: error,
      });
    }
  }
}

function readyUrl(line: string): string | null {
  const parsed = z.object({ ready: z.literal(true), url: z.string() }).safeParse(parseJson(line));
  return parsed.success ? parsed.data.url : null;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null; // not a line of JSON, so not the line that is waited for
  }
}
