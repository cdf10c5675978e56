import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { createEngineRegistry } from "@llmgw/engines";
import {
  buildInfo,
  createDiagnosticsHandler,
  createLogger,
  holdDirectory,
  type Logger,
  newId,
  parseSettings,
  programCommand,
  refusePlaintextOffLoopback,
  runGroup,
  runMain,
  serveDiagnostics,
  sha256Hex,
  systemClock,
} from "@llmgw/service";
import { type AgentSettings, agentSettings, productRoot } from "./config.ts";
import { agentHealth, agentMetrics } from "./diagnostics.ts";
import { EngineFinder } from "./engines-found.ts";
import { GpuMonitor } from "./gpus/gpu-monitor.ts";
import type { GpuSource } from "./gpus/gpu-source.ts";
import { openKernelLog } from "./gpus/kernel-log.ts";
import { linuxMemory, machineSource } from "./gpus/machine-source.ts";
import { simulatedSource } from "./gpus/simulated-source.ts";
import { anyOwnAddress, localAddressTowards, readMachine } from "./machine.ts";
import { preflightText } from "./preflight/check.ts";
import { preflight } from "./preflight/preflight.ts";
import { readEnvFile } from "./processes/environment.ts";
import { warnOfEphemeralPorts } from "./processes/ephemeral-ports.ts";
import { createPortPicker } from "./processes/ports.ts";
import { openShardRecords } from "./processes/shard-record.ts";
import { systemProcessTable } from "./processes/system-process-table.ts";
import { createAdminClient } from "./report/admin-client.ts";
import { readIdentity, writeIdentity } from "./report/identity.ts";
import { answerLogs } from "./report/log-answers.ts";
import { SyncLoop } from "./report/sync-loop.ts";
import type { SuperviseContext } from "./supervise/context.ts";
import { defaultSuperviseSettings } from "./supervise/shard-state.ts";
import { Supervisor } from "./supervise/supervisor.ts";
import { timings } from "./supervise/timings.ts";

const gpuLookMs = 5_000;
const engineLookMs = 10 * 60_000;
const gpuToolTimeoutMs = 10_000;
const gpuToolKillAfterMs = 5_000;
/** An admin holds a poll for 5 s; a poll without an answer long after that is lost. */
const syncTimeoutMs = 15_000;
/** An agent has to be back before its node counts as suspect (15 s), however long the outage was. */
const retry = { baseMs: 500, maxMs: 5_000 };
/** With `--stop-engines-on-exit`, between SIGTERM and SIGKILL; a supervisor above has patience for about 12 s. */
const exitKillAfterMs = 5_000;
const shutdownDeadlineMs = 30_000;

await runMain(async () => {
  const settings = parseSettings(agentSettings, { argv: process.argv.slice(2), env: process.env });
  refusePlaintext(settings);
  const log = createLogger({ name: "agent", level: settings.logLevel, pretty: process.stdout.isTTY });
  if (settings.check) return await runPreflight(settings);
  const held = await holdDirectory(settings.dataDir);
  try {
    return await runAgent(settings, log);
  } finally {
    await held.release();
  }
});

async function runAgent(settings: AgentSettings, log: Logger): Promise<number> {
  const clock = systemClock;
  const dataDir = await realpath(settings.dataDir);
  const within = (...parts: string[]) => join(dataDir, ...parts);
  const machine = await readMachine(dataDir);
  const simulated = settings.gpus.kind !== "auto";
  const claimsDir = within("claims");
  const registry = createEngineRegistry(simulated ? { command: simulatorCommand(), claimsDir } : null);
  const table = systemProcessTable();
  const advertise = settings.advertise ?? (await localAddressTowards(settings.adminUrl)) ?? anyOwnAddress();
  const file = settings.engineEnvFile === undefined ? {} : await readEnvFile(settings.engineEnvFile);
  const identityPath = within("identity.json");
  const scaled = (ms: number) => ms * settings.timeScale;
  await warnOfEphemeralPorts(settings.ports, log);

  const shardOfPid = (pid: number) => supervisor.shardOfPid(pid);
  const kernelLog = simulated ? null : openKernelLog(settings.kernelLog);
  if (!simulated && kernelLog === null) {
    log.warn(
      { path: settings.kernelLog },
      "the kernel log cannot be read, so Xids of GPUs are unknown (it takes root)",
    );
  }
  const source: GpuSource =
    settings.gpus.kind === "auto"
      ? machineSource({
          env: process.env,
          clock,
          timeoutMs: gpuToolTimeoutMs,
          killAfterMs: gpuToolKillAfterMs,
          shardOfPid,
          kernelLog,
          machineId: machine.machineId,
          systemMemory: linuxMemory,
        })
      : simulatedSource({
          spec: settings.gpus,
          nodeName: settings.nodeName,
          claimsDir,
          isAlive: (pid) => table.find(pid) !== null,
          shardOfPid,
        });
  const gpus = new GpuMonitor({ source, clock, log, everyMs: scaled(gpuLookMs) });
  const context: SuperviseContext = {
    clock,
    log,
    timings: timings(settings.timeScale),
    settings: defaultSuperviseSettings,
    registry,
    records: await openShardRecords(within("shards")),
    table,
    bootId: machine.bootId,
    owner: sha256Hex(`${machine.machineId} ${dataDir}`).slice(0, 16),
    desiredPath: within("desired.json"),
    logsDir: within("logs"),
    privateDir: within("private"),
    workDir: dataDir,
    advertise,
    ports: createPortPicker(settings.ports),
    gpus,
    modelsDir: settings.modelsDir ?? null,
    environment: { own: process.env, file },
    ownSecrets: settings.joinToken === undefined ? [] : [settings.joinToken],
  };
  const supervisor = new Supervisor(context, { stopEngines: settings.stopEnginesOnExit, killAfterMs: exitKillAfterMs });
  await supervisor.start();

  const { version } = buildInfo();
  const engines = new EngineFinder({
    registry,
    ownVersion: version,
    env: process.env,
    clock,
    log,
    everyMs: scaled(engineLookMs),
  });
  const ca = settings.adminCa === undefined ? null : await readFile(settings.adminCa, "utf8");
  const client = createAdminClient({ url: settings.adminUrl, ca, timeoutMs: syncTimeoutMs });
  const sync = new SyncLoop({
    client,
    node: {
      state: () => supervisor.state,
      report: () => ({
        name: settings.nodeName,
        address: advertise,
        agentVersion: version,
        simulated,
        labels: settings.labels,
        engines: [...engines.found],
        sources: {},
        gpus: gpus.report.gpus === null ? null : [...gpus.report.gpus],
        gpuProbeError: gpus.report.error,
        shards: supervisor.observations(),
      }),
      exitedIds: () => supervisor.exitedIds(),
      apply: (answer, reportedExited) => supervisor.apply(answer, reportedExited),
      answerLogs: (wish) => answerLogs(context, supervisor.state, wish),
    },
    identity: {
      load: () => readIdentity(identityPath),
      save: (identity) => writeIdentity(identityPath, identity),
      joinToken: settings.joinToken ?? null,
      name: settings.nodeName,
      simulated,
    },
    machine,
    session: newId("session"),
    clock,
    log,
    retry: { baseMs: scaled(retry.baseMs), maxMs: scaled(retry.maxMs) },
    random: Math.random,
  });
  const wake = () => sync.wake();
  supervisor.onUrgent(wake);
  gpus.onChange(wake);
  engines.onChange(wake);

  const watched = { supervisor, sync, gpus, clock, nodeName: settings.nodeName };
  const handler = createDiagnosticsHandler({
    registry: agentMetrics(watched),
    health: () => agentHealth(watched),
    version,
    token: settings.diagnosticsToken,
  });
  const diagnostics = serveDiagnostics({
    listen: settings.diagnosticsListen,
    variable: { env: "LLMGW_AGENT_DIAG_LISTEN", flag: "diag-listen" },
    handler,
    log,
  });
  log.info({ node: settings.nodeName, address: advertise, admin: settings.adminUrl, simulated }, "agent started");
  const parts = [diagnostics, supervisor, gpus, engines, sync];
  const code = await runGroup({ parts, log, shutdownDeadlineMs, clock });
  await client.close();
  kernelLog?.close();
  return code;
}

/** `--check`: exit code 1 when something fails that the node cannot do without. */
async function runPreflight(settings: AgentSettings): Promise<number> {
  const { dataDir, adminUrl, ports, modelsDir, gpus: spec } = settings;
  const simulated = spec.kind !== "auto";
  const claimsDir = join(dataDir, "claims");
  const tool = { env: process.env, clock: systemClock, timeoutMs: gpuToolTimeoutMs, killAfterMs: gpuToolKillAfterMs };
  const shardOfPid = () => null;
  const gpus = simulated
    ? simulatedSource({ spec, nodeName: settings.nodeName, claimsDir, isAlive: () => true, shardOfPid })
    : machineSource({ ...tool, shardOfPid, kernelLog: null, machineId: "local", systemMemory: linuxMemory });
  const checks = await preflight({
    ...{ dataDir, adminUrl, ports, gpus, env: process.env, clock: systemClock },
    modelsDir: modelsDir ?? null,
    advertise: settings.advertise ?? (await localAddressTowards(adminUrl)) ?? anyOwnAddress(),
    kernelLogPath: settings.kernelLog,
    registry: createEngineRegistry(simulated ? { command: simulatorCommand(), claimsDir } : null),
    ownVersion: buildInfo().version,
  });
  process.stdout.write(preflightText(checks));
  return checks.some(({ verdict }) => verdict === "fail") ? 1 : 0;
}

/** The simulator is started by path: it is a program of its own, as every engine is. */
function simulatorCommand(): readonly [string, ...string[]] {
  return programCommand({ root: productRoot, app: "engine-sim", entry: "main.ts" });
}

function refusePlaintext({ adminUrl, allowPlaintext, diagnosticsListen, diagnosticsToken }: AgentSettings): void {
  if (adminUrl.startsWith("http:")) {
    refusePlaintextOffLoopback({
      host: new URL(adminUrl).hostname.replace(/^\[|\]$/g, ""),
      allowPlaintext,
      variable: "LLMGW_ADMIN_URL",
    });
  }
  if (diagnosticsToken !== undefined) return;
  refusePlaintextOffLoopback({ host: diagnosticsListen.host, allowPlaintext, variable: "LLMGW_AGENT_DIAG_LISTEN" });
}
