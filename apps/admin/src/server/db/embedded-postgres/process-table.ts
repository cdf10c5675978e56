import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Whether `pid` names a process, a zombie included, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** The arguments of a process joined by one space, empty for a zombie; undefined when there is no such process. */
export async function commandLineOf(pid: number): Promise<string | undefined> {
  try {
    return process.platform === "linux" ? await fromProc(pid) : await fromPs(pid);
  } catch (error) {
    if (!isAlive(pid)) {
      return undefined;
    }
    throw error;
  }
}

async function fromProc(pid: number): Promise<string> {
  return (await readFile(`/proc/${pid}/cmdline`, "utf8")).split("\0").join(" ").trim();
}

async function fromPs(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "args=", "-p", String(pid)], { timeout: 10_000 });
  return stdout.trim();
}
