import cluster from "node:cluster";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  buildInfo,
  createDiagnosticsHandler,
  createLogger,
  type Health,
  holdDirectory,
  isLoopback,
  type ListenAddress,
  type Logger,
  newId,
  type RunGroupPart,
  refusePlaintextOffLoopback,
  runGroup,
  runMain,
  serveDiagnostics,
  systemClock,
} from "@llmgw/service";
import { type RouterConfig, readConfig } from "./config.ts";
import { dataPlane } from "./data-plane.ts";
import { logExchange } from "./diagnostics/access-log.ts";
import { DecisionLog } from "./diagnostics/decision-log.ts";
import { endpointsPage } from "./diagnostics/endpoints-page.ts";
import { RouterMetrics } from "./diagnostics/router-metrics.ts";
import { ClientListener } from "./http/client-listener.ts";
import type { Exchange } from "./http/exchange.ts";
import { BodyMemory } from "./http/gateway.ts";
import { AdminClient } from "./registry/admin-client.ts";
import { AdminSync } from "./registry/admin-sync.ts";
import { ConfigFile, requireConfigFile } from "./registry/config-file.ts";
import { Registry } from "./registry/registry.ts";
import { routerIdentity } from "./registry/router-identity.ts";
import { defaultRouterSettings, type RouterSettings } from "./registry/settings.ts";
import type { StaticConfig } from "./registry/static-config.ts";
import { TableStore } from "./registry/table-store.ts";
import { OtlpExporter } from "./tracing/otlp-exporter.ts";
import { Tracer } from "./tracing/tracer.ts";
import { EndpointWatch } from "./upstream/endpoint-watch.ts";
import { TimerWheel } from "./upstream/timer-wheel.ts";
import { UsageJournal } from "./usage/usage-journal.ts";
import { UsageMeter } from "./usage/usage-meter.ts";
import { UsageUpload } from "./usage/usage-upload.ts";
import { receiveShare, workerLink } from "./workers/worker-link.ts";
import { WorkerPool } from "./workers/worker-pool.ts";

/** On top of the grace for open answers: cutting the last ones, and the goodbye. */
const SHUTDOWN_SLACK_MS = 15_000;
const DIAGNOSTICS_SETTING = { env: "LLMGW_ROUTER_DIAG_LISTEN", flag: "diag-listen" };
const clock = systemClock;
const random = Math.random;
const { version } = buildInfo();

await runMain(async () => {
  const config = readConfig({ argv: process.argv.slice(2), env: process.env });
  const log = createLogger({ name: "router", level: config.logLevel, pretty: process.stdout.isTTY });
  if (config.config === undefined) return await runWithAdmin(config, log);
  const isPool = config.workers > 1 && cluster.isPrimary;
  return isPool ? await runWorkers(config, config.config, log) : await runWithFile(config, config.config, log);
});

/** Where a router's table comes from: what runs beside the listener, and how it is. */
interface TableSource {
  readonly parts: readonly Pick<RunGroupPart, "name" | "run">[];
  /** Told of each request that has ended, before its answer has. */
  readonly onExchangeEnd: (exchange: Exchange) => void;
  readonly health: () => { readonly problem: string | null; readonly [detail: string]: unknown };
  readonly onDrained: () => Promise<void>;
}

async function runWithFile(config: RouterConfig, path: string, log: Logger): Promise<number> {
  const share = cluster.isWorker ? await receiveShare() : { index: 0, count: 1 };
  const { text, config: file } = await requireConfigFile(path, share);
  const registry = new Registry({ settings: file.settings, clock, random, log });
  const source = new ConfigFile({ path, text, config: file, share, registry, clock, log });
  return await serve({
    config,
    log,
    registry,
    listen: config.isGiven("listen") ? config.listen : (file.listen ?? config.listen),
    diagnosticsListen: diagnosticsOf(config, file),
    start: () => {
      registry.apply(file.table);
      return {
        parts: [source],
        onExchangeEnd: () => undefined,
        health: () => ({ problem: source.problems.length === 0 ? null : source.problems.join("; "), config: path }),
        onDrained: () => Promise.resolve(),
      };
    },
  });
}

/** Several processes that serve from the file; this one watches over them. */
async function runWorkers(config: RouterConfig, path: string, log: Logger): Promise<number> {
  const { config: file } = await requireConfigFile(path, { index: 0, count: config.workers });
  const pool = new WorkerPool({ count: config.workers, clock, log });
  const diagnostics = serveDiagnostics({
    listen: diagnosticsOf(config, file),
    variable: DIAGNOSTICS_SETTING,
    handler: createDiagnosticsHandler({
      registry: pool.metrics,
      health: () => pool.health(),
      version,
      token: config.diagnosticsToken,
      pages: { "/debug/endpoints": () => pool.endpointsPage() },
    }),
    log,
  });
  refusePlaintext(config, file.listen ?? config.listen, diagnosticsOf(config, file));
  const graceMs = config.isGiven("shutdownGraceMs") ? config.shutdownGraceMs : file.settings.timeouts.shutdownGraceMs;
  const shutdownDeadlineMs = graceMs + 2 * SHUTDOWN_SLACK_MS;
  return await runGroup({ parts: [diagnostics, pool], log, shutdownDeadlineMs });
}

function diagnosticsOf(config: RouterConfig, file: StaticConfig): ListenAddress {
  if (config.isGiven("diagnosticsListen")) return config.diagnosticsListen;
  return file.diagnostics ?? config.diagnosticsListen;
}

async function runWithAdmin(config: RouterConfig, log: Logger): Promise<number> {
  const held = await holdDirectory(config.dataDir);
  try {
    const routerId = await routerIdentity(config.dataDir, log);
    const ca = config.adminCa === undefined ? null : await readFile(config.adminCa, "utf8");
    const client = new AdminClient({ url: config.adminUrl, token: config.routerToken ?? "", ca });
    const timeouts = { ...defaultRouterSettings.timeouts, shutdownGraceMs: config.shutdownGraceMs };
    const settings: RouterSettings = { ...defaultRouterSettings, timeouts };
    const registry = new Registry({ settings, clock, random, log });
    const session = newId("session");
    const journal = new UsageJournal({ dir: join(config.dataDir, "usage"), boot: session });
    return await serve({
      config,
      log,
      registry,
      listen: config.listen,
      diagnosticsListen: config.diagnosticsListen,
      start: async (address) => {
        await journal.open();
        const meter = new UsageMeter({ journal, clock, log });
        const upload = new UsageUpload({ journal, client, routerId, clock, log });
        const sync = new AdminSync({
          client,
          registry,
          store: new TableStore(config.dataDir),
          routerId,
          session,
          keysMaxAgeMs: config.keysMaxAgeMs,
          facts: () => ({ name: config.routerName, address: address(), version }),
          clock,
          log,
          random,
        });
        await sync.restore();
        return {
          parts: [{ name: "link to the admin", run: (signal) => sync.run(signal) }, upload],
          onExchangeEnd: (exchange) => meter.exchangeEnded(exchange),
          health: () => ({
            ...sync.status,
            routerId,
            admin: config.adminUrl,
            usage: { problem: upload.problem, lostRecords: meter.lost },
          }),
          onDrained: async () => {
            await upload.finish();
            await sync.sayGoodbye(new AbortController().signal);
            await client.close();
          },
        };
      },
    });
  } finally {
    await held.release();
  }
}

interface ServeOptions {
  readonly config: RouterConfig;
  readonly log: Logger;
  readonly registry: Registry;
  readonly listen: ListenAddress;
  readonly diagnosticsListen: ListenAddress;
  /** Fills the registry; `address` gives the client listener's URL once that listens. */
  readonly start: (address: () => string) => TableSource | Promise<TableSource>;
}

async function serve({ config, log, registry, listen, diagnosticsListen, start }: ServeOptions): Promise<number> {
  refusePlaintext(config, listen, diagnosticsListen);
  const wheel = new TimerWheel(clock);
  // The access log's fields are all our own: the search for credentials in each line would cost more than the request.
  const accessLog = log.child({}, { redact: [] });
  const metrics = new RouterMetrics(registry, clock);
  const decisions = new DecisionLog();
  const exporter = exporterOf(config, log);
  const tracer =
    exporter === null
      ? null
      : new Tracer({ export: (span) => exporter.add(span), ratio: config.traceRatio, clock, random });
  registry.onBreaker((endpoint, state) => {
    const { replica, generation } = endpoint.entry;
    log[state === "open" ? "warn" : "info"]({ replica, generation, state }, "the breaker of an endpoint changed");
  });
  const watch = new EndpointWatch({ registry, clock, random, log });
  let address = "";
  const source = await start(() => address);
  const listener = new ClientListener({
    registry,
    wheel,
    clock,
    log,
    observer: {
      exchangeEnded: (exchange, end) => {
        source.onExchangeEnd(exchange);
        tracer?.exchangeEnded(exchange, end);
        metrics.exchangeEnded(exchange, end);
        logExchange(accessLog, clock, { exchange, end });
      },
      attemptEnded: (kind) => metrics.attemptEnded(kind),
      waited: (wait) => metrics.waited(wait),
      retried: (model) => metrics.retried(model),
    },
    decisions,
    tracer,
    bodyMemory: new BodyMemory(),
    listen,
    setting: { env: "LLMGW_ROUTER_LISTEN", flag: "listen" },
  });
  const graceMs = () =>
    config.isGiven("shutdownGraceMs") ? config.shutdownGraceMs : registry.settings.timeouts.shutdownGraceMs;

  const health = (): Health => {
    const isReady = !listener.isDraining && registry.table !== null;
    const status = isReady ? "ok" : "not_ready";
    return { status, draining: listener.isDraining, open: listener.open, table: source.health() };
  };
  const diagnostics = serveDiagnostics({
    listen: diagnosticsListen,
    variable: DIAGNOSTICS_SETTING,
    handler: createDiagnosticsHandler({
      registry: metrics.registry,
      health,
      version,
      token: config.diagnosticsToken,
      pages: { "/debug/endpoints": () => endpointsPage(registry, decisions, clock.monotonicMs()) },
    }),
    log,
  });
  const plane = dataPlane({
    listener,
    registry,
    companions: [wheel, watch, ...source.parts, ...(exporter === null ? [] : [exporter])],
    graceMs,
    onDrained: source.onDrained,
    onListening: (url) => {
      address = url;
    },
    clock,
    log,
  });
  const page = () => endpointsPage(registry, decisions, clock.monotonicMs());
  const link = workerLink({ metrics: metrics.registry, health, endpointsPage: page, clock });
  const parts = [cluster.isWorker ? link : diagnostics, plane];
  return await runGroup({ parts, log, shutdownDeadlineMs: graceMs() + SHUTDOWN_SLACK_MS });
}

function exporterOf({ otlpEndpoint, otlpHeaders, serviceName }: RouterConfig, log: Logger): OtlpExporter | null {
  if (otlpEndpoint === undefined) return null;
  const resource = { "service.name": serviceName, "service.version": version, "service.instance.id": newId("session") };
  return new OtlpExporter({ endpoint: otlpEndpoint, headers: otlpHeaders, resource, clock, log });
}

function refusePlaintext(
  { allowPlaintext, diagnosticsToken }: RouterConfig,
  listen: ListenAddress,
  diagnosticsListen: ListenAddress,
): void {
  refusePlaintextOffLoopback({ host: listen.host, allowPlaintext, variable: "LLMGW_ROUTER_LISTEN" });
  if (diagnosticsToken !== undefined || isLoopback(diagnosticsListen.host)) return;
  refusePlaintextOffLoopback({
    host: diagnosticsListen.host,
    allowPlaintext: false,
    variable: "LLMGW_ROUTER_DIAG_LISTEN",
  });
}
