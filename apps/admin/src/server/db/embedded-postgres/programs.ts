import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import type { ServerAccount } from "./account.ts";

/** How one PostgreSQL program ended. */
export type ProgramEnd =
  | { readonly kind: "exit"; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly kind: "spawn_failed"; readonly error: Error };

/** A started PostgreSQL program. */
export interface RunningProgram {
  readonly child: ChildProcess;
  /** Settles when the process has ended, also when helpers of it still hold its output open. Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** The last lines that it wrote to stderr. */
  readonly lastLines: () => readonly string[];
}

const keptLines = 12;
/** English messages on every machine, no inherited PG* variables. (Next's types want NODE_ENV in every environment.) */
const environment = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC", NODE_ENV: "production" } as const;

/** Starts `bin/<name>` as `account`, in a process group of its own: Ctrl-C in a terminal reaches only llmgw. */
export function startProgram(options: {
  readonly nativeDir: string;
  readonly name: "initdb" | "postgres";
  readonly args: readonly string[];
  readonly account: ServerAccount;
  readonly onLine: (line: string) => void;
}): RunningProgram {
  const { account, onLine } = options;
  const lines: string[] = [];
  const child = spawn(path.join(options.nativeDir, "bin", options.name), options.args, {
    cwd: "/",
    env: environment,
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
    ...(account.kind === "other" ? { uid: account.uid, gid: account.gid } : {}),
  });
  createInterface({ input: child.stderr }).on("line", (line) => {
    lines.push(line);
    lines.splice(0, lines.length - keptLines);
    onLine(line);
  });
  const ended = new Promise<ProgramEnd>((resolve) => {
    child.once("error", (error) => resolve({ kind: "spawn_failed", error }));
    child.once("exit", (code, signal) => resolve({ kind: "exit", code, signal }));
  });
  return { child, ended, lastLines: () => lines };
}

/** The error for a PostgreSQL program that ended when it should not have. */
export function endedError(what: string, end: ProgramEnd, lines: readonly string[]): Error {
  if (end.kind === "spawn_failed") {
    return new Error(`${what}: ${end.error.message}`, { cause: end.error });
  }
  const how = end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`;
  return new Error([`${what} (${how}).`, ...lines.map((line) => `  ${line}`)].join("\n"));
}
