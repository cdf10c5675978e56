import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

export interface Script extends Disposable {
  readonly child: ChildProcess;
  /** Resolves once standard output contains the text; rejects if the process ends first. */
  waitFor(text: string): Promise<void>;
  /** Everything written so far. */
  output(): { stdout: string; stderr: string };
  /** Resolves when the process ended and its output is complete. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Runs TypeScript code, which may import `@llmgw/service`, in a real process; `using` kills it at the scope's end. */
export function spawnScript(code: string): Script {
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], {
    cwd: resolve(import.meta.dirname, "../.."),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
  });
  const ended = once(child, "close").then(() => ({ code: child.exitCode, signal: child.signalCode }));
  return {
    child,
    ended,
    output: () => ({ stdout, stderr }),
    waitFor: async (text) => {
      while (!stdout.includes(text)) {
        const what = await Promise.race([once(child.stdout, "data").then(() => "data"), ended.then(() => "ended")]);
        if (what === "ended" && !stdout.includes(text)) {
          throw new Error(`the script ended before it wrote ${JSON.stringify(text)}: ${stdout}${stderr}`);
        }
      }
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}
