import { spawn } from "node:child_process";
import { open } from "node:fs/promises";
import type { LaunchLine } from "@llmgw/engines";

export interface SpawnOrder {
  readonly argv: LaunchLine["argv"];
  readonly otherProgram?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logPath: string;
  readonly cwd: string;
}

export type SpawnOutcome =
  | {
      readonly kind: "spawned";
      readonly pid: number;
      /** Settles when the process ends; never rejects. */
      readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
    }
  | { readonly kind: "failed"; readonly cause: string; readonly isAbsent: boolean };

/**
 * Starts an engine in a session of its own, writing its output straight to the log file, so that it outlives this agent
 * and goes on writing. It is no child that keeps the agent from ending.
 */
export async function spawnEngine(order: SpawnOrder): Promise<SpawnOutcome> {
  const [program, ...args] = order.argv;
  const outcome = await spawnProgram(program, args, order);
  const isAbsent = outcome.kind === "failed" && outcome.isAbsent;
  if (!isAbsent || order.otherProgram === undefined) return outcome;
  const other = await spawnProgram(order.otherProgram, args, order);
  // Neither is there: the first name is the one to install.
  return other.kind === "failed" && other.isAbsent ? outcome : other;
}

async function spawnProgram(
  program: string,
  args: readonly string[],
  { env, logPath, cwd }: SpawnOrder,
): Promise<SpawnOutcome> {
  const log = await open(logPath, "a", 0o600);
  try {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", log.fd, log.fd] });
    const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
      child.once("exit", (code, signal) => resolve({ code, signal }));
    });
    const started = await new Promise<Error | null>((resolve) => {
      child.once("spawn", () => resolve(null));
      child.once("error", resolve);
    });
    if (started !== null || child.pid === undefined) {
      const isAbsent = started !== null && "code" in started && started.code === "ENOENT";
      return { kind: "failed", cause: `cannot start ${program}: ${started?.message ?? "it has no pid"}`, isAbsent };
    }
    child.unref();
    return { kind: "spawned", pid: child.pid, ended };
  } finally {
    await log.close();
  }
}
