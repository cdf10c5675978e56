import { existsSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";
import {
  defineSettings,
  gpuSpec,
  httpUrl,
  labels,
  listenAddress,
  portRange,
  type SettingsOf,
  textSchema,
} from "@llmgw/service";
import { z } from "zod";

/** The clone (or installation) that this file is part of. */
export const productRoot = resolve(import.meta.dirname, "../../..");

const optionalText = z.string().min(1).optional();

const nodeName = textSchema("a name of 1 to 253 letters, digits, and . _ -", (text) =>
  /^[A-Za-z0-9][\w.-]{0,252}$/.test(text) ? text : undefined,
);

const scale = textSchema("a factor above 0, such as 0.1 for ten times as fast", (text) => {
  const factor = Number(text);
  return Number.isFinite(factor) && factor > 0 && factor <= 1000 ? factor : undefined;
});

/** The agent's settings. One data folder belongs to one agent: its lock, identity, records and engines' logs. */
export const agentSettings = defineSettings(
  {
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
      schema: optionalText,
      help: "file with the certificate authority of the admin's certificate (PEM)",
      valueName: "FILE",
    },
    allowPlaintext: {
      env: "LLMGW_ALLOW_PLAINTEXT",
      flag: "allow-plaintext",
      schema: z.boolean(),
      default: false,
      help: "allow plain http to an admin on another machine",
    },
    joinToken: {
      env: "LLMGW_JOIN_TOKEN",
      schema: optionalText,
      help: "join token of the cluster; needed until this node has joined",
      secret: true,
    },
    nodeName: {
      env: "LLMGW_NODE_NAME",
      flag: "name",
      schema: nodeName,
      default: hostname(),
      help: "this node's name in the cluster",
      valueName: "NAME",
    },
    dataDir: {
      env: "LLMGW_DATA_DIR",
      flag: "data-dir",
      schema: z
        .string()
        .min(1)
        .transform((path) => resolve(path)),
      default: defaultDataDir(),
      help: "this agent's own folder: identity, records of its engines, their logs",
      valueName: "DIR",
    },
    advertise: {
      env: "LLMGW_AGENT_ADVERTISE",
      flag: "advertise",
      schema: optionalText,
      help: "address that engines listen on and routers dial (default: this machine's address towards the admin)",
      valueName: "ADDRESS",
    },
    ports: {
      env: "LLMGW_AGENT_PORTS",
      flag: "ports",
      schema: portRange,
      default: "18000-18999",
      help: "ports for engines, best outside the system's ephemeral range",
      valueName: "FIRST-LAST",
    },
    labels: {
      env: "LLMGW_AGENT_LABELS",
      flag: "labels",
      schema: labels,
      default: "",
      help: "labels of this node for placement",
      valueName: "NAME=VALUE,…",
    },
    engineEnvFile: {
      env: "LLMGW_ENGINE_ENV_FILE",
      flag: "engine-env-file",
      schema: optionalText,
      help: "file of NAME=value lines for every engine (HF_TOKEN, proxies); engines inherit nothing else",
      valueName: "FILE",
    },
    modelsDir: {
      env: "LLMGW_MODELS_DIR",
      flag: "models-dir",
      schema: optionalText,
      help: "folder that relative model paths are below",
      valueName: "DIR",
    },
    gpus: {
      env: "LLMGW_GPUS",
      flag: "gpus",
      schema: gpuSpec,
      default: "auto",
      help: "auto (nvidia-smi, amd-smi, else the CPU), or simulated: sim:COUNTxSIZE, sim:FILE",
      valueName: "SPEC",
    },
    kernelLog: {
      env: "LLMGW_KERNEL_LOG",
      flag: "kernel-log",
      schema: z.string().min(1),
      default: "/dev/kmsg",
      help: "where the kernel's messages on GPUs (Xids) are read",
      valueName: "PATH",
    },
    check: {
      flag: "check",
      schema: z.boolean(),
      default: false,
      help: "look at what this node needs (driver, engines, ports, admin), say what is missing, and end",
    },
    stopEnginesOnExit: {
      flag: "stop-engines-on-exit",
      schema: z.boolean(),
      default: false,
      help: "stop all engines when the agent is told to stop (otherwise they run on for the next agent)",
    },
    diagnosticsListen: {
      env: "LLMGW_AGENT_DIAG_LISTEN",
      flag: "diag-listen",
      schema: listenAddress,
      default: "127.0.0.1:0",
      help: "listener for /metrics, /health and /debug/pprof",
      valueName: "HOST:PORT",
    },
    diagnosticsToken: {
      env: "LLMGW_DIAG_TOKEN",
      schema: optionalText,
      help: "token for the diagnostics listener; needed off loopback",
      secret: true,
    },
    timeScale: {
      env: "LLMGW_TIME_SCALE",
      flag: "time-scale",
      schema: scale,
      default: "1",
      help: "factor on this program's own waits, for tests",
      valueName: "FACTOR",
    },
    logLevel: {
      env: "LLMGW_LOG_LEVEL",
      flag: "log-level",
      schema: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"], {
        error: "expected trace, debug, info, warn, error, fatal or silent",
      }),
      default: "info",
      help: "least severe level that is logged",
      valueName: "LEVEL",
    },
  },
  {
    program: "llmgw agent",
    summary: "Runs on each GPU node: reports its GPUs, starts, watches and stops its inference engines.",
  },
);
export type AgentSettings = SettingsOf<typeof agentSettings.settings>;

/** `.llmgw` in a clone, else the user's state folder. */
function defaultDataDir(): string {
  const inClone = existsSync(join(productRoot, ".git"));
  return join(inClone ? join(productRoot, ".llmgw") : join(homedir(), ".local/state/llmgw"), "agent");
}
