import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createLlmgwClient, type LlmgwClient } from "@llmgw/api";
import type { ModelManifest } from "@llmgw/wire";
import { endEngines } from "./engines.ts";
import { freePort } from "./free-port.ts";
import { entry, Program, root } from "./program.ts";
import { RouterLink } from "./router-link.ts";
import { TcpLink } from "./tcp-link.ts";
import { waitFor } from "./wait.ts";

export interface ClusterOptions {
  /** GPU spec of each node, e.g. `sim:1x80GiB`; its agent and engines are on 127.0.0.11, .12 … */
  readonly nodes: readonly string[];
  readonly routers: number;
  /** One factor on the control plane's and agents' durations. */
  readonly timeScale?: number;
  /** Set for agents beside, or instead of, what they get anyway. */
  readonly agentEnv?: Readonly<Record<string, string>>;
}

export interface TestNode {
  readonly name: string;
  readonly address: string;
  readonly agent: Program;
  readonly link: TcpLink;
}

export interface TestRouter {
  readonly url: string;
  readonly diagnosticsUrl: string;
  readonly program: Program;
  readonly link: RouterLink;
}

/**
 * A whole cluster of real processes on this machine, with a link that a test can cut between each pair that talks.
 * `await using` it: disposing stops every process, engines too, copies the logs to `test-results/logs/` and removes its
 * folder (kept when `LLMGW_KEEP` is set).
 */
export class Cluster implements AsyncDisposable {
  readonly dir: string;
  readonly adminUrl: string;
  readonly postgres: Program;
  readonly admin: Program;
  readonly nodes: TestNode[] = [];
  readonly routers: TestRouter[] = [];
  apiKey = "";
  operatorToken = "";

  private constructor(dir: string, adminUrl: string, programs: { postgres: Program; admin: Program }) {
    this.dir = dir;
    this.adminUrl = adminUrl;
    this.postgres = programs.postgres;
    this.admin = programs.admin;
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const dir = mkdtempSync(join(tmpdir(), "llmgw-e2e-"));
    const scale = options.timeScale === undefined ? {} : { LLMGW_TIME_SCALE: String(options.timeScale) };
    const log = (name: string) => join(dir, "logs", `${name}.log`);
    const postgres = new Program({
      name: "postgres",
      args: entry("admin", "postgres-main.ts", ["--data-dir", dir]),
      env: {},
      logFile: log("postgres"),
    }).start();
    const databaseUrl = await waitFor("the database", () => /"url":"([^"]+)"/.exec(postgres.log())?.[1]);
    const adminPort = await freePort();
    const admin = new Program({
      name: "admin",
      args: entry("admin", "main.ts", ["--listen", `127.0.0.1:${adminPort}`]),
      env: { DATABASE_URL: databaseUrl, LLMGW_DATA_DIR: join(dir, "admin"), NODE_ENV: "production", ...scale },
      logFile: log("admin"),
    }).start();
    const cluster = new Cluster(dir, `http://127.0.0.1:${adminPort}`, { postgres, admin });
    try {
      await cluster.#startRest(options, { adminPort, scale, log });
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  get client(): LlmgwClient {
    return createLlmgwClient({ url: this.adminUrl, token: this.operatorToken });
  }

  async #startRest(
    options: ClusterOptions,
    context: { adminPort: number; scale: Record<string, string>; log: (name: string) => string },
  ): Promise<void> {
    await this.adminHealthy();
    const file = JSON.parse(readFileSync(join(this.dir, "admin", "credentials.json"), "utf8")) as Record<
      string,
      string
    >;
    this.apiKey = file["apiKey"] ?? "";
    this.operatorToken = file["operatorToken"] ?? "";
    for (const [index, gpus] of options.nodes.entries()) {
      const name = `node-${String.fromCharCode(97 + index)}`;
      const address = `127.0.0.${11 + index}`;
      const link = await TcpLink.open({ host: "127.0.0.1", port: context.adminPort });
      const agent = new Program({
        name,
        args: entry("agent", "main.ts", ["--gpus", gpus]),
        env: {
          LLMGW_ADMIN_URL: link.url,
          LLMGW_JOIN_TOKEN: file["joinToken"] ?? "",
          LLMGW_NODE_NAME: name,
          LLMGW_AGENT_ADVERTISE: address,
          LLMGW_DATA_DIR: join(this.dir, name),
          ...context.scale,
          ...options.agentEnv,
        },
        logFile: context.log(name),
      }).start();
      this.nodes.push({ name, address, agent, link });
    }
    for (let index = 0; index < options.routers; index += 1) {
      const [port, diagPort] = [await freePort(), await freePort()];
      const link = await RouterLink.open(this.adminUrl);
      const name = `router-${index + 1}`;
      const program = new Program({
        name,
        args: entry("router", "main.ts", ["--listen", `127.0.0.1:${port}`, "--diag-listen", `127.0.0.1:${diagPort}`]),
        env: {
          LLMGW_ADMIN_URL: link.url,
          LLMGW_ROUTER_TOKEN: file["routerToken"] ?? "",
          LLMGW_DATA_DIR: join(this.dir, name),
        },
        logFile: context.log(name),
      }).start();
      this.routers.push({
        url: `http://127.0.0.1:${port}`,
        diagnosticsUrl: `http://127.0.0.1:${diagPort}`,
        program,
        link,
      });
    }
    await waitFor("all nodes to be live", async () => {
      const nodes = await this.client.nodes.list.query();
      return (
        nodes.length === options.nodes.length && nodes.every((node) => node.liveness === "live" && node.gpus.length > 0)
      );
    });
    await waitFor("all routers to answer", async () => {
      for (const { url } of this.routers) if (!(await fetch(`${url}/healthz`)).ok) return false;
      return (
        (await this.client.routers.list.query()).filter((router) => router.state === "live").length === options.routers
      );
    });
  }

  async adminHealthy(): Promise<void> {
    const isHealthy = async () => (await fetch(`${this.adminUrl}/health`)).ok;
    await waitFor("the admin", isHealthy, { describe: () => this.admin.log().split("\n").slice(-12) });
  }

  /** Applies a model and waits until as many replicas as it wants serve. */
  async deploy(manifest: ModelManifest): Promise<void> {
    await this.client.models.applySpec.mutate(manifest);
    await this.serving(manifest.id, manifest.replicas ?? 1);
  }

  async serving(model: string, count: number): Promise<void> {
    let seen: unknown = null;
    await waitFor(
      `${count} replicas of ${model} to serve`,
      async () => {
        const view = await this.client.models.get.query({ model });
        seen = { view, replicas: await this.client.replicas.list.query({ model }) };
        return view.serving === count;
      },
      { describe: () => seen },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.routers.map(({ program }) => program.kill()));
    for (const { agent } of this.nodes) agent.freeze(false);
    await Promise.all(this.nodes.map(({ agent }) => agent.kill()));
    await this.admin.kill();
    await this.postgres.stop();
    await endEngines(this.dir);
    await Promise.all([...this.nodes.map(({ link }) => link.close()), ...this.routers.map(({ link }) => link.close())]);
    this.#keepLogs();
    if (process.env["LLMGW_KEEP"] === undefined) rmSync(this.dir, { recursive: true, force: true });
  }

  /** Copies all logs to `test-results/logs/`, where a failed run is looked into. */
  #keepLogs(): void {
    const target = join(root, "test-results", "logs", basename(this.dir));
    cpSync(join(this.dir, "logs"), join(target, "programs"), { recursive: true });
    for (const { name } of this.nodes) {
      const engines = join(this.dir, name, "logs");
      if (existsSync(engines)) cpSync(engines, join(target, name), { recursive: true });
    }
  }
}
