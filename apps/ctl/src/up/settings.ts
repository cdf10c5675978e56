import { defineSettings, gpuSpec, httpUrl, listenAddress } from "@llmgw/service";
import { z } from "zod";

const wholeNumber = "expected a whole number from 0 to 64";
const count = z.string().regex(/^\d+$/, wholeNumber).transform(Number).pipe(z.number().max(64, wholeNumber));

/** Checked here, before anything starts; the agents are given the text. */
const simulatedGpus = z.string().superRefine((text, context) => {
  const parsed = gpuSpec.safeParse(text);
  const isSimulated = parsed.success && parsed.data.kind !== "auto";
  if (!isSimulated)
    context.addIssue({ code: "custom", message: "expected sim:COUNTxSIZE such as sim:2x80GiB, or sim:FILE.json" });
});

/** What `llmgw up` (`npm start`) reads. The programs it starts read the rest of the environment themselves. */
export const upSettings = defineSettings(
  {
    adminListen: {
      env: "LLMGW_ADMIN_LISTEN",
      flag: "admin-listen",
      schema: listenAddress,
      default: "127.0.0.1:7070",
      valueName: "HOST:PORT",
      help: "where the dashboard and the management API listen",
    },
    routerListen: {
      env: "LLMGW_ROUTER_LISTEN",
      flag: "router-listen",
      schema: listenAddress,
      default: "127.0.0.1:8080",
      valueName: "HOST:PORT",
      help: "where the inference API listens",
    },
    routerDiagListen: {
      env: "LLMGW_ROUTER_DIAG_LISTEN",
      flag: "router-diag-listen",
      schema: listenAddress,
      default: "127.0.0.1:8081",
      valueName: "HOST:PORT",
      help: "where the router's metrics and health listen",
    },
    databaseUrl: {
      env: "DATABASE_URL",
      schema: httpUrl.or(z.string()).optional(),
      secret: true,
      help: "a PostgreSQL of your own (14 or newer); without it an embedded one is started",
    },
    dataDir: {
      env: "LLMGW_DATA_DIR",
      flag: "data-dir",
      schema: z.string().min(1).optional(),
      valueName: "DIR",
      help: "where everything is kept (default: .llmgw in this clone)",
    },
    agents: {
      flag: "agents",
      schema: count,
      default: "3",
      valueName: "N",
      help: "simulated nodes to start",
    },
    gpus: {
      flag: "gpus",
      schema: simulatedGpus,
      default: "sim:2x80GiB",
      valueName: "SPEC",
      help: "GPUs of each simulated node: sim:COUNTxSIZE, or sim:FILE",
    },
    demo: {
      flag: "demo",
      schema: z.boolean(),
      default: true,
      help: "start the simulated nodes and deploy the demo model (--no-demo: neither)",
    },
  },
  {
    program: "llmgw up",
    summary:
      "Starts a whole cluster on this machine: database, admin, router and simulated GPU nodes. Ctrl-C stops it.",
  },
);
