import { existsSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import {
  ConfigError,
  defineSettings,
  duration,
  httpUrl,
  listenAddress,
  logLevel,
  readSettings,
  refusePlaintextOffLoopback,
  type SettingsInput,
  type SettingsOf,
} from "@llmgw/service";
import { z } from "zod";
import { defaultRouterSettings } from "./registry/settings.ts";

const productRoot = resolve(import.meta.dirname, "../../..");
const KEYS_MAX_AGE_MS = 24 * 3_600_000;
const optionalText = z.string().min(1).optional();
const path = z
  .string()
  .min(1)
  .transform((text) => resolve(text));

/** `name=value,name=value`, values percent-encoded as OpenTelemetry's specification has it. */
const headerList = z.string().transform((text, context) => {
  const headers: Record<string, string> = {};
  for (const part of text.split(",").map((piece) => piece.trim())) {
    const at = part.indexOf("=");
    if (part === "") continue;
    if (at < 1) {
      context.addIssue({ code: "custom", message: "expected name=value pairs, separated by commas" });
      return z.NEVER;
    }
    headers[part.slice(0, at).trim().toLowerCase()] = decodeURIComponent(part.slice(at + 1).trim());
  }
  return headers;
});

const definition = defineSettings(
  {
    config: {
      flag: "config",
      schema: path.optional(),
      help: "router.yaml to serve from, in place of an admin",
      valueName: "FILE",
    },
    listen: {
      env: "LLMGW_ROUTER_LISTEN",
      flag: "listen",
      schema: listenAddress,
      default: "127.0.0.1:8080",
      help: "listener for inference clients",
      valueName: "HOST:PORT",
    },
    diagnosticsListen: {
      env: "LLMGW_ROUTER_DIAG_LISTEN",
      flag: "diag-listen",
      schema: listenAddress,
      default: "127.0.0.1:8081",
      help: "listener for /metrics, /health and /debug",
      valueName: "HOST:PORT",
    },
    diagnosticsToken: {
      env: "LLMGW_DIAG_TOKEN",
      schema: optionalText,
      help: "token for the diagnostics listener; needed off loopback",
      secret: true,
    },
    adminUrl: {
      env: "LLMGW_ADMIN_URL",
      flag: "admin-url",
      schema: httpUrl,
      default: "http://127.0.0.1:7070",
      help: "where the admin is; https unless it is on this machine",
      valueName: "URL",
    },
    adminCa: {
      env: "LLMGW_ADMIN_CA",
      flag: "admin-ca",
      schema: path.optional(),
      help: "file with the certificate authority of the admin's certificate (PEM)",
      valueName: "FILE",
    },
    routerToken: {
      env: "LLMGW_ROUTER_TOKEN",
      schema: optionalText,
      help: "this router's token for the admin",
      secret: true,
    },
    routerName: {
      flag: "name",
      schema: z.string().min(1).max(253),
      default: hostname(),
      help: "this router's name in the dashboard",
      valueName: "NAME",
    },
    dataDir: {
      env: "LLMGW_DATA_DIR",
      flag: "data-dir",
      schema: path,
      default: defaultDataDir(),
      help: "this router's own folder: its id and the last known table",
      valueName: "DIR",
    },
    keysMaxAgeMs: {
      env: "LLMGW_KEYS_MAX_AGE",
      flag: "keys-max-age",
      schema: duration,
      default: KEYS_MAX_AGE_MS,
      help: "how long keys are believed without a word from the admin (default: 24h)",
      valueName: "DURATION",
    },
    shutdownGraceMs: {
      flag: "shutdown-grace",
      schema: duration,
      default: defaultRouterSettings.timeouts.shutdownGraceMs,
      help: "how long open answers may go on after a stop signal (default: 15m)",
      valueName: "DURATION",
    },
    allowPlaintext: {
      env: "LLMGW_ALLOW_PLAINTEXT",
      flag: "allow-plaintext",
      schema: z.boolean(),
      default: false,
      help: "allow plain HTTP listeners, and an admin over plain HTTP, off this machine",
    },
    workers: {
      flag: "workers",
      schema: z.coerce.number().pipe(z.int().min(1).max(256)),
      default: 1,
      help: "processes that serve on the one port, with --config: about one for each core (default: 1)",
      valueName: "N",
    },
    otlpEndpoint: {
      env: "OTEL_EXPORTER_OTLP_ENDPOINT",
      schema: httpUrl.optional(),
      help: "collector for traces (OTLP over HTTP), such as http://127.0.0.1:4318",
      valueName: "URL",
    },
    otlpHeaders: {
      env: "OTEL_EXPORTER_OTLP_HEADERS",
      schema: headerList,
      default: {},
      help: "headers for the collector: name=value,…",
      secret: true,
    },
    serviceName: {
      env: "OTEL_SERVICE_NAME",
      schema: z.string().min(1).max(253),
      default: "llmgw-router",
      help: "this router's name in traces (default: llmgw-router)",
    },
    traceRatio: {
      env: "OTEL_TRACES_SAMPLER_ARG",
      schema: z.coerce.number().min(0).max(1),
      default: 1,
      help: "share of the traces that begin here which are kept, 0 to 1 (default: 1)",
    },
    logLevel: {
      env: "LLMGW_LOG_LEVEL",
      flag: "log-level",
      schema: logLevel,
      default: "info",
      help: "least severe level that is logged",
      valueName: "LEVEL",
    },
  },
  {
    program: "llmgw router",
    summary: "Serves the OpenAI-compatible API: balances requests over inference engines and streams their answers.",
  },
);

export type RouterConfig = SettingsOf<typeof definition.settings> & {
  /** True for a setting that somebody gave, by flag or variable; it wins over the config file. */
  readonly isGiven: (name: keyof typeof definition.settings) => boolean;
};

/** Reads the router's settings; throws a `ConfigError` with every problem. */
export function readConfig(input: SettingsInput): RouterConfig {
  const { values, sources } = readSettings(definition, input);
  const isGiven = (name: keyof typeof definition.settings) => sources[name] !== "default";
  if (values.config !== undefined && isGiven("adminUrl")) {
    throw new ConfigError([
      "--config and LLMGW_ADMIN_URL (or --admin-url) are both given: a router serves either from a file or from an admin's table. Remove one",
    ]);
  }
  if (values.config === undefined && values.workers > 1) {
    throw new ConfigError([
      `--workers is ${values.workers}: several workers serve from a file only. Give --config FILE, or run several routers`,
    ]);
  }
  if (values.config === undefined && values.routerToken === undefined) {
    throw new ConfigError([
      "LLMGW_ROUTER_TOKEN is not set: expected this router's token for the admin. To serve from a file without an admin, give --config FILE",
    ]);
  }
  if (values.config === undefined && values.adminUrl.startsWith("http:")) {
    const host = new URL(values.adminUrl).hostname.replace(/^\[|\]$/g, "");
    refusePlaintextOffLoopback({ host, allowPlaintext: values.allowPlaintext, variable: "LLMGW_ADMIN_URL" });
  }
  return { ...values, isGiven };
}

/** `.llmgw` in a clone, else the user's state folder. */
function defaultDataDir(): string {
  const inClone = existsSync(join(productRoot, ".git"));
  return join(inClone ? join(productRoot, ".llmgw") : join(homedir(), ".local/state/llmgw"), "router");
}
