import { createLogger, defineSettings, parseSettings, runGroup, runMain, textSchema } from "@llmgw/service";
import { z } from "zod";
import { runEmbeddedPostgres } from "./server/db/embedded-postgres/index.ts";

const definition = defineSettings(
  {
    dataDir: {
      env: "LLMGW_DATA_DIR",
      flag: "data-dir",
      schema: z.string({ error: "expected a folder for llmgw's data" }),
      valueName: "DIR",
      help: "llmgw's data folder; the database's settings, and mostly its data, lie in postgres/ below it",
    },
    port: {
      env: "LLMGW_POSTGRES_PORT",
      flag: "port",
      schema: textSchema("a port from 1 to 65535", parsePort).optional(),
      valueName: "PORT",
      help: "port on 127.0.0.1; the last one used if it is free, else any free one, unless given",
    },
    logLevel: {
      env: "LLMGW_LOG_LEVEL",
      flag: "log-level",
      schema: z.enum(["debug", "info", "warn", "error"], { error: "expected debug, info, warn or error" }),
      default: "info",
      valueName: "LEVEL",
      help: "least severe message to log, on standard error",
    },
    stopWithParent: {
      flag: "stop-with-parent",
      schema: z.boolean(),
      default: false,
      help: "also stop when the process that started this one is gone",
    },
  },
  {
    program: "llmgw postgres",
    summary:
      'Runs the embedded PostgreSQL server until SIGTERM or SIGINT. Prints one line {"ready":true,"url":"postgresql://…"} on standard output once it accepts connections.',
  },
);

await runMain(async () => {
  const settings = parseSettings(definition, { argv: process.argv.slice(2), env: process.env });
  const log = createLogger({ name: "postgres", level: settings.logLevel, destination: process.stderr });
  return await runGroup({
    parts: [
      {
        name: "postgres",
        run: (signal) =>
          runEmbeddedPostgres({
            dataDir: settings.dataDir,
            port: settings.port,
            log,
            signal,
            stopWithParent: settings.stopWithParent,
            onReady: ({ url }) => process.stdout.write(`${JSON.stringify({ ready: true, url })}\n`),
          }),
      },
    ],
    log,
    shutdownDeadlineMs: 40_000,
  });
});

function parsePort(text: string): number | undefined {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}
