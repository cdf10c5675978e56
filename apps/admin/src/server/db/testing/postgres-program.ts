import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { programCommand } from "@llmgw/service";

const root = fileURLToPath(new URL("../../../../../..", import.meta.url));

/** The program `postgres`, started as llmgw starts it. */
export interface PostgresProgram extends AsyncDisposable {
  readonly child: ChildProcess;
  /** The address it printed, or how it ended without printing one. */
  readonly ready: Promise<{ readonly url: string } | { readonly code: number | null; readonly stderr: string }>;
  readonly exited: Promise<number | null>;
}

/**
 * Starts the program on a data folder. Disposing it stops it and waits for its end.
 * @param options.as user and group ids to run as; this process's unless given.
 */
export function startPostgresProgram(options: {
  readonly dataDir: string;
  readonly args?: readonly string[];
  readonly as?: { readonly uid: number; readonly gid: number };
}): PostgresProgram {
  const program = programCommand({ root, app: "admin", entry: "postgres-main.ts" });
  const [command = process.execPath, ...args] = [...changeUser(options.as), ...program, ...(options.args ?? [])];
  const child = spawn(command, args, {
    env: {
      PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
      NODE_ENV: "test",
      LLMGW_DATA_DIR: options.dataDir,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const closed = new Promise<{ code: number | null; stderr: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, stderr })),
  );
  const line = new Promise<{ url: string }>((resolve) =>
    createInterface({ input: child.stdout }).once("line", (text) => resolve({ url: String(JSON.parse(text).url) })),
  );
  return {
    child,
    ready: Promise.race([line, closed]),
    exited,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/**
 * Changes to another user, who may also read what is below root's closed folders: the tree under test may lie in one,
 * and an ordinary user's own clone would not.
 */
function changeUser(as: { readonly uid: number; readonly gid: number } | undefined): readonly string[] {
  if (as === undefined) return [];
  const capability = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"];
  return ["setpriv", `--reuid=${as.uid}`, `--regid=${as.gid}`, "--clear-groups", ...capability, "--"];
}

/** The address of a program that must have started. */
export async function urlOf(program: PostgresProgram): Promise<string> {
  const outcome = await program.ready;
  if ("url" in outcome) {
    return outcome.url;
  }
  throw new Error(`the program postgres ended (code ${outcome.code}) before it was ready: ${outcome.stderr}`);
}
