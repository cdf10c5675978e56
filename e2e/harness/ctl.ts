import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Cluster } from "./cluster.ts";
import { root } from "./program.ts";

/** Runs `llmgw ctl …` against a cluster as an operator's shell would; resolves to its exit code and what it printed. */
export function ctl(cluster: Cluster, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, "apps/ctl/bin/llmgw.mjs"), "ctl", ...args], {
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: cluster.dir,
        LLMGW_ADMIN_URL: cluster.adminUrl,
        LLMGW_TOKEN: cluster.operatorToken,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.on("error", reject);
    child.on("exit", (code) => resolve({ code: code ?? 1, output }));
  });
}

/** `ctl drain NODE`, followed to its end. */
export function drainAndFollow(
  cluster: Cluster,
  node: string,
  args: readonly string[] = [],
): Promise<{ code: number; output: string }> {
  return ctl(cluster, ["drain", node, "--yes", ...args]);
}
