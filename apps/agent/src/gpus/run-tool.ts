import { spawn } from "node:child_process";
import type { Clock } from "@llmgw/service";

export interface ToolOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Between SIGTERM and SIGKILL, and between SIGKILL and giving up on it. */
  readonly killAfterMs: number;
  readonly clock: Clock;
}

export type ToolOutcome =
  | { readonly kind: "ended"; readonly code: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "absent" }
  /** It did not end in time; it was told to, and killed. */
  | { readonly kind: "timeout"; readonly pid: number }
  /** It survives SIGKILL, as a process in uninterruptible sleep does. `gone` settles when it ends after all. */
  | { readonly kind: "stuck"; readonly pid: number; readonly gone: Promise<void> };

/** More output than any inventory has; what comes after it is dropped. */
const maxOutputChars = 1024 * 1024;

/** Runs a small tool with a timeout that holds even for one that ignores signals or leaves its pipes open. */
export async function runTool(options: ToolOptions): Promise<ToolOutcome> {
  const { program, args, env, timeoutMs, killAfterMs, clock } = options;
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      if (output[name].length < maxOutputChars) output[name] += chunk;
    });
  }
  const closed = new Promise<ToolOutcome>((resolve) => {
    child.once("error", (error) => {
      if ("code" in error && error.code === "ENOENT") resolve({ kind: "absent" });
      else resolve({ kind: "ended", code: null, stdout: "", stderr: `cannot run ${program}: ${error.message}` });
    });
    child.once("close", (code) => resolve({ kind: "ended", code, ...output }));
  });
  const done = new AbortController();
  void closed.then(() => done.abort());
  if (await endsWithin(clock, timeoutMs, done.signal)) return await closed;
  const { pid } = child;
  if (pid === undefined) return await closed;
  // Only our own probe is ever killed; a GPU reader that is killed hard has been seen to freeze its GPU, so gently first.
  child.kill("SIGTERM");
  if (await endsWithin(clock, killAfterMs, done.signal)) return { kind: "timeout", pid };
  child.kill("SIGKILL");
  if (await endsWithin(clock, killAfterMs, done.signal)) return { kind: "timeout", pid };
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
  return { kind: "stuck", pid, gone: closed.then(() => undefined) };
}

async function endsWithin(clock: Clock, ms: number, done: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, done);
    return false;
  } catch (error) {
    if (done.aborted) return true;
    throw error;
  }
}
