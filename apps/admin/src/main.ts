import { fileURLToPath } from "node:url";
import {
  buildInfo,
  createDiagnosticsHandler,
  createLogger,
  isLoopback,
  type Logger,
  runGroup,
  runMain,
  systemClock,
} from "@llmgw/service";
import { type AdminConfig, readAdminConfig } from "./config.ts";
import { type Admin, createAdmin } from "./server/admin.ts";
import { adminSettings } from "./server/control/settings.ts";
import { signInWithLink } from "./server/control/use-cases/access.ts";
import { findNodeCredential, findSession, findToken } from "./server/db/access-store.ts";
import { adopt } from "./server/db/adopt.ts";
import { createPrisma } from "./server/db/client.ts";
import { ensureCluster } from "./server/db/cluster-row.ts";
import { ensureCredentials } from "./server/db/credentials.ts";
import type { Database } from "./server/db/database.ts";
import { applyMigrations } from "./server/db/migrations/index.ts";
import { waitForDatabase } from "./server/db/wait-for-database.ts";
import { Credentials } from "./server/http/credentials.ts";
import { createListener } from "./server/http/listener.ts";
import { openPages, type Pages } from "./server/http/pages.ts";
import { serveHttp } from "./server/http/serve.ts";

const POOL_SIZE = 12;
const DATABASE_WAIT_MS = 60_000;
/** Everything ends within two seconds of SIGTERM; this is for what hangs. */
const SHUTDOWN_MS = 4_000;
const adminDirectory = fileURLToPath(new URL("..", import.meta.url));
const migrationsDir = fileURLToPath(new URL("../../../prisma/migrations", import.meta.url));

await runMain(async () => {
  const [command, ...rest] = process.argv.slice(2);
  const adopts = command === "adopt";
  const config = readAdminConfig({ argv: adopts ? rest : process.argv.slice(2), env: process.env });
  const log = createLogger({ name: "admin", level: config.logLevel });
  const { databaseUrl } = config;
  await waitForDatabase({ databaseUrl, timeoutMs: DATABASE_WAIT_MS, log, signal: new AbortController().signal });
  await applyMigrations({ databaseUrl, migrationsDir, log });
  const database = createPrisma({ databaseUrl, poolSize: POOL_SIZE, log });
  try {
    return adopts ? await adoptCluster(database, log) : await serve(config, database, log);
  } finally {
    await database.$disconnect();
  }
});

async function adoptCluster(database: Database, log: Logger): Promise<number> {
  const version = await adopt(database);
  if (version === null) log.info("nothing to adopt: no agent or router runs a newer version than this database has");
  else log.info({ version }, "adopted: agents and routers take this database's word again");
  return 0;
}

async function serve(config: AdminConfig, database: Database, log: Logger): Promise<number> {
  const settings = adminSettings(config.timeScale);
  const cluster = await ensureCluster(database);
  await ensureCredentials(database, config.dataDir, log);
  const build = buildInfo();
  const { databaseDirectUrl, routerUrl, auditKeepMs } = config;
  const admin = await createAdmin({
    ...{ database, databaseDirectUrl, cluster, settings, build, routerUrl, auditKeepMs, log },
    clock: systemClock,
  });
  // React and Next choose their build by this when they are loaded, which happens below.
  Object.assign(process.env, { NODE_ENV: config.dev ? "development" : "production" });
  const { host, port } = config.listen;
  const pages = await openPages({ directory: adminDirectory, host, port, dev: config.dev, clock: systemClock });
  const stopping = new AbortController();
  const { promise: listening, resolve: onListening } = deferred();
  const handler = listenerOf({ config, database, admin, pages, log, stopping: stopping.signal });
  const http = {
    name: "listener",
    run: async (signal: AbortSignal) => {
      signal.addEventListener("abort", () => stopping.abort(signal.reason), { once: true });
      try {
        await serveHttp({ listen: config.listen, handler, onListening, log }, signal);
      } finally {
        onListening(); // whoever waits for it need not any more
      }
    },
  };
  const dashboard = {
    name: "dashboard",
    run: async (signal: AbortSignal) => {
      await listening;
      await pages.run(signal);
    },
  };
  return await runGroup({ parts: [...admin.parts, http, dashboard], log, shutdownDeadlineMs: SHUTDOWN_MS });
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function listenerOf(parts: {
  readonly config: AdminConfig;
  readonly database: Database;
  readonly admin: Admin;
  readonly pages: Pages;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}) {
  const { config, database, admin, pages, log, stopping } = parts;
  const settings = adminSettings(config.timeScale);
  const { versions } = admin;
  return createListener({
    control: admin.control,
    credentials: new Credentials({
      source: {
        token: (sha256) => findToken(database, sha256),
        node: (sha256) => findNodeCredential(database, sha256),
        session: (sha256) => findSession(database, sha256),
      },
      rememberMs: settings.credentialCacheMs,
      clock: systemClock,
    }),
    signIn: {
      exchange: (token, from) => signInWithLink({ database, settings }, token, from),
      sessionMs: settings.sessionMs,
      log,
    },
    diagnostics: createDiagnosticsHandler({
      registry: admin.metrics.registry,
      health: () => ({ status: versions.reachable && !versions.held ? "ok" : "not_ready" }),
      version: buildInfo().version,
    }),
    pages: pages.handle,
    allowedHosts: new Set([...config.allowedHosts, ...(isLoopback(config.listen.host) ? [] : [config.listen.host])]),
    stopping,
    dev: config.dev,
    log,
  });
}
