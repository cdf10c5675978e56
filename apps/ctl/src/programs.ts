import { spawn } from "node:child_process";
import { programCommand } from "@llmgw/service";
import { treeRoot } from "./up/layout.ts";

/** The programs that `llmgw <name>` starts, each by the path of its entry file. None is imported. */
export const programs = {
  admin: { app: "admin", entry: "main.ts", help: "the control plane: dashboard, management API, control loop" },
  router: { app: "router", entry: "main.ts", help: "the OpenAI-compatible inference API" },
  agent: { app: "agent", entry: "main.ts", help: "runs engines on this machine's GPUs" },
  "engine-sim": { app: "engine-sim", entry: "main.ts", help: "a simulated inference engine" },
  postgres: { app: "admin", entry: "postgres-main.ts", help: "the embedded PostgreSQL server" },
  migrate: { app: "admin", entry: "migrate-main.ts", help: "applies the database's migrations" },
} as const;

export type ProgramName = keyof typeof programs;

export function isProgram(name: string | undefined): name is ProgramName {
  return name !== undefined && Object.hasOwn(programs, name);
}

/** The command line that starts a program. */
export function commandOf(name: ProgramName, args: readonly string[]): readonly [string, ...string[]] {
  const { app, entry } = programs[name];
  return [...programCommand({ root: treeRoot, app, entry }), ...args] as const;
}

/** Runs a program in the foreground until it ends; signals reach it. Resolves to its exit code (128 + n for a signal). */
export function runProgram(name: ProgramName, args: readonly string[]): Promise<number> {
  const [command, ...rest] = commandOf(name, args);
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, { stdio: "inherit" });
    const forward = (signal: NodeJS.Signals) => child.kill(signal);
    process.on("SIGINT", forward);
    process.on("SIGTERM", forward);
    process.on("SIGHUP", forward);
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 143)));
  });
}
