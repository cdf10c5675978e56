import {
  ConfigError,
  defineSettings,
  httpUrl,
  type ListenAddress,
  type LogLevel,
  listenAddress,
  parseDuration,
  parseSettings,
  refusePlaintextOffLoopback,
  textSchema,
} from "@llmgw/service";
import { z } from "zod";

const HOUR_MS = 3_600_000;

const hosts = textSchema("host names, separated by commas, without ports", (text) => {
  const names = text
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "");
  return names.every((name) => /^[a-z0-9.-]+$|^[0-9a-f:]+$/.test(name)) ? names : undefined;
});

const keep = textSchema("an hour or more, such as 400d, or forever", (text) => {
  if (text === "forever") return null;
  const ms = parseDuration(text);
  return ms === undefined || ms < HOUR_MS ? undefined : ms;
});

const factor = textSchema("a factor above 0, such as 1 or 0.1", (text) => {
  const value = Number(text);
  return text !== "" && Number.isFinite(value) && value > 0 && value <= 10 ? value : undefined;
});

/** Every setting of the admin; `--help` prints them. */
const adminSettings = defineSettings(
  {
    listen: {
      env: "LLMGW_ADMIN_LISTEN",
      flag: "listen",
      schema: listenAddress,
      default: "127.0.0.1:7070",
      valueName: "HOST:PORT",
      help: "dashboard, management API, metrics, health and profiles",
    },
    databaseUrl: {
      env: "DATABASE_URL",
      schema: z.string({ error: "expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE" }),
      secret: true,
      help: "the PostgreSQL database (14 or newer) that holds the cluster's state",
    },
    databaseDirectUrl: {
      env: "DATABASE_DIRECT_URL",
      schema: z.string().optional(),
      secret: true,
      help: "the same database past a connection pooler, for the one connection that listens; DATABASE_URL unless given",
    },
    dataDir: {
      env: "LLMGW_DATA_DIR",
      flag: "data-dir",
      schema: z.string({ error: "expected a folder for the admin's files" }).min(1),
      valueName: "DIR",
      help: "folder of credentials.json",
    },
    allowedHosts: {
      env: "LLMGW_ALLOWED_HOSTS",
      flag: "allowed-hosts",
      schema: hosts,
      default: "",
      valueName: "NAMES",
      help: "names under which browsers and programs reach the admin, beside loopback and the listen host",
    },
    allowPlaintext: {
      env: "LLMGW_ALLOW_PLAINTEXT",
      flag: "allow-plaintext",
      schema: z.boolean(),
      default: false,
      help: "listen on other addresses than loopback although the listener speaks plain HTTP",
    },
    auditKeep: {
      env: "LLMGW_AUDIT_KEEP",
      flag: "audit-keep",
      schema: keep,
      default: "400d",
      valueName: "DURATION",
      help: "how long the audit is kept, or forever",
    },
    timeScale: {
      env: "LLMGW_TIME_SCALE",
      flag: "time-scale",
      schema: factor,
      default: "1",
      valueName: "FACTOR",
      help: "one factor on every duration of the control plane, for tests",
    },
    routerUrl: {
      env: "LLMGW_ROUTER_URL",
      flag: "router-url",
      schema: httpUrl.optional(),
      valueName: "URL",
      help: "where clients reach the routers, shown in the dashboard",
    },
    logLevel: {
      env: "LLMGW_LOG_LEVEL",
      flag: "log-level",
      schema: z.enum(["trace", "debug", "info", "warn", "error"], {
        error: "expected trace, debug, info, warn or error",
      }),
      default: "info",
      valueName: "LEVEL",
      help: "least severe message to log",
    },
    dev: {
      flag: "dev",
      schema: z.boolean(),
      default: false,
      help: "compile the dashboard's pages while serving them, for work on the dashboard",
    },
  },
  {
    program: "llmgw admin",
    summary: "The control plane: dashboard, management API and control loop. Applies migrations at its start.",
  },
);

export interface AdminConfig {
  readonly listen: ListenAddress;
  readonly databaseUrl: string;
  readonly databaseDirectUrl: string;
  readonly dataDir: string;
  readonly allowedHosts: readonly string[];
  /** ms; null: for ever. */
  readonly auditKeepMs: number | null;
  readonly timeScale: number;
  readonly routerUrl: string | null;
  readonly logLevel: LogLevel;
  readonly dev: boolean;
}

/** @throws ConfigError naming every setting that is wrong, HelpRequested on `--help`. */
export function readAdminConfig(input: {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}): AdminConfig {
  const settings = parseSettings(adminSettings, input);
  refusePlaintextOffLoopback({
    host: settings.listen.host,
    allowPlaintext: settings.allowPlaintext,
    variable: "LLMGW_ADMIN_LISTEN",
  });
  if (!/^postgres(ql)?:\/\//.test(settings.databaseUrl)) {
    throw new ConfigError(["DATABASE_URL is a value (not shown): expected postgresql://USER:PASSWORD@HOST:PORT/DB"]);
  }
  return {
    listen: settings.listen,
    databaseUrl: settings.databaseUrl,
    databaseDirectUrl: settings.databaseDirectUrl ?? settings.databaseUrl,
    dataDir: settings.dataDir,
    allowedHosts: settings.allowedHosts,
    auditKeepMs: settings.auditKeep,
    timeScale: settings.timeScale,
    routerUrl: settings.routerUrl ?? null,
    logLevel: settings.logLevel,
    dev: settings.dev,
  };
}
