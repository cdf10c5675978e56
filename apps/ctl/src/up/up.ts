import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { LlmgwClient } from "@llmgw/api";
import {
  ConfigError,
  holdDirectory,
  parseSettings,
  type SettingsOf,
  systemClock,
  writeFileAtomic,
} from "@llmgw/service";
import type { RunFile } from "@llmgw/wire";
import { banner, ctlCommand } from "./banner.ts";
import { type Credentials, LocalCluster } from "./cluster.ts";
import { demoModel } from "./demo.ts";
import { defaultDataDir } from "./layout.ts";
import { endLeftovers, noteChildren } from "./leftovers.ts";
import { upSettings } from "./settings.ts";
import { stopSignal } from "./stop-signal.ts";
import { until } from "./until.ts";

type Settings = SettingsOf<(typeof upSettings)["settings"]>;

const runFileName = "run.json";

/** Each simulated node gets this many ports for its engines, from 18000 on. */
const firstEnginePort = 18_000;
const portsPerNode = 100;

/**
 * `llmgw up`: a whole cluster on this machine, in the foreground. Resolves to the exit code once everything it started
 * has ended.
 */
export async function up(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const settings = parseSettings(upSettings, { argv, env });
  const dataDir = settings.dataDir ?? defaultDataDir();
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const held = await holdDirectory(dataDir);
  const stop = stopSignal(say);
  let failure: unknown = null;
  const cluster = new LocalCluster({
    dataDir,
    adminListen: settings.adminListen,
    routerListen: settings.routerListen,
    routerDiagListen: settings.routerDiagListen,
    env: passedOn(env),
    clock: systemClock,
    say,
    onFailure: (error) => {
      failure ??= error;
      stop.abort(error);
    },
  });
  const childrenFile = join(dataDir, "children.json");
  const noting = setInterval(() => note(childrenFile, cluster, stop), 1_000);
  try {
    const ended = await endLeftovers(childrenFile, systemClock, stop.signal);
    if (ended.length > 0) say(`ended what an earlier run had left: ${ended.join(", ")}`);
    await bringUp({ settings, cluster, dataDir, say, signal: stop.signal });
    await stop.stopped;
  } catch (error) {
    if (!stop.signal.aborted) failure ??= error;
  }
  clearInterval(noting);
  say("stopping …");
  await rm(join(dataDir, runFileName), { force: true });
  await cluster.stop();
  await rm(childrenFile, { force: true });
  await held.release();
  if (failure !== null) throw failure instanceof ConfigError ? failure : new ConfigError([words(failure)]);
  say("stopped");
  return 0;
}

async function bringUp(input: {
  settings: Settings;
  cluster: LocalCluster;
  dataDir: string;
  say: (line: string) => void;
  signal: AbortSignal;
}): Promise<void> {
  const { settings, cluster, dataDir, say, signal } = input;
  say(
    settings.databaseUrl === undefined ? "starting the embedded PostgreSQL …" : "using the PostgreSQL of DATABASE_URL",
  );
  const databaseUrl = settings.databaseUrl ?? (await cluster.startPostgres(signal));
  const nodes = settings.demo ? settings.agents : 0;
  const startMachines = (found: Credentials) => {
    for (let index = 0; index < nodes; index += 1) {
      const firstPort = firstEnginePort + index * portsPerNode;
      cluster.startAgent({ name: `sim-${index + 1}`, gpus: settings.gpus, joinToken: found.joinToken, firstPort });
    }
    return cluster.startRouter(found.routerToken, signal);
  };
  const machines = nodes === 0 ? "the router" : `the router and ${nodes} simulated nodes (${settings.gpus})`;
  // From the second start on nothing has to wait for the admin: agents and routers find it when it is there.
  const known = await cluster.credentials();
  say(`starting the admin${known === null ? "" : `, ${machines}`} …`);
  const [{ credentials, client }] = await Promise.all([
    cluster.startAdmin(databaseUrl, signal),
    known === null ? undefined : startMachines(known),
  ]);
  if (known === null) {
    say(`starting ${machines} …`);
    await startMachines(credentials);
  }
  const model = nodes === 0 ? null : await deployDemo({ nodes, cluster, credentials, client, say, signal });
  const link = await client.access.createSignInLink.mutate({ name: "operator" });
  const run: RunFile = {
    adminUrl: cluster.adminUrl,
    routerUrl: cluster.routerUrl,
    routerDiagnosticsUrl: cluster.routerDiagnosticsUrl,
    apiKey: credentials.apiKey,
    operatorToken: credentials.operatorToken,
    dashboardUser: null,
    dashboardPasswordFile: null,
    model,
    pids: { ...cluster.pids, up: process.pid },
  };
  await writeFileAtomic(join(dataDir, runFileName), `${JSON.stringify(run, null, 2)}\n`, { mode: 0o600 });
  cluster.establish();
  process.stdout.write(banner(run, { signInUrl: `${cluster.adminUrl}${link.path}`, ctl: ctlCommand(dataDir) }));
}

interface DemoOptions {
  readonly nodes: number;
  readonly cluster: LocalCluster;
  readonly credentials: Credentials;
  readonly client: LlmgwClient;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Deploys the demo model (an existing one is left as it is) and waits until a client gets an answer from it. */
async function deployDemo({ nodes, cluster, credentials, client, say, signal }: DemoOptions): Promise<string> {
  const clock = systemClock;
  // Placed once all nodes are there, so that its replicas spread over them.
  const joined = async () => {
    const known = await client.nodes.list.query();
    const ready = known.filter((node) => node.liveness === "live" && node.gpus.length > 0);
    return ready.length >= nodes ? true : null;
  };
  await until(joined, { what: "joining of the nodes", timeoutMs: 60_000, everyMs: 100, clock, signal });
  const known = await client.models.list.query();
  if (!known.some((model) => model.id === demoModel.id)) await client.models.applySpec.mutate(demoModel);
  const demo = await client.models.get.query({ model: demoModel.id });
  if (demo.desired === 0) return demo.id; // an operator scaled it to nothing
  say(`waiting until ${demo.id} serves …`);
  const ask = async () => ((await answers(cluster.routerUrl, credentials.apiKey, demo.id)) ? true : null);
  await until(ask, { what: `loading ${demo.id}`, timeoutMs: 120_000, everyMs: 200, clock, signal });
  return demo.id;
}

/** Whether a client of the inference API gets an answer: the only proof of serving that counts for a user. */
async function answers(routerUrl: string, apiKey: string, model: string): Promise<boolean> {
  const answer = await fetch(`${routerUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, max_tokens: 1, messages: [{ role: "user", content: "Hello" }] }),
    signal: AbortSignal.timeout(10_000),
  });
  await answer.body?.cancel();
  return answer.ok;
}

/** The environment of the programs: everything but what `up` decides for each of them. */
function passedOn(env: NodeJS.ProcessEnv): Record<string, string> {
  const own = [
    "LLMGW_ADMIN_LISTEN",
    "LLMGW_ROUTER_LISTEN",
    "LLMGW_ROUTER_DIAG_LISTEN",
    "LLMGW_DATA_DIR",
    "DATABASE_URL",
  ];
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || own.includes(name) ? [] : [[name, value]])),
  );
}

function note(file: string, cluster: LocalCluster, stop: { abort(error: unknown): void }): void {
  const children = Object.entries(cluster.pids).map(([name, pid]) => ({ name, pid }));
  noteChildren(file, children).catch((error: unknown) => stop.abort(error));
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
