import { resolve } from "node:path";
import type { RunFile } from "@llmgw/wire";
import { programName } from "../ctl/program-name.ts";
import { defaultDataDir } from "./layout.ts";

/**
 * How to call ctl for a cluster of this data folder: named where it is not the one that ctl looks at by itself. Absolute,
 * so that it works from every folder.
 */
export function ctlCommand(dataDir: string): string {
  const folder = resolve(dataDir);
  if (folder === defaultDataDir()) return `${programName()} ctl`;
  const quoted = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  return `${programName()} ctl --data-dir ${quoted}`;
}

/** What `llmgw up` prints once everything serves. */
export function banner(run: RunFile, { signInUrl, ctl }: { signInUrl: string; ctl: string }): string {
  const lines = [
    "",
    "  llmgw is up.",
    "",
    `  Dashboard   ${signInUrl}`,
    `              (signs one browser in, once; \`${ctl} sign-in\` makes another link)`,
  ];
  lines.push(`  API key     ${run.apiKey}`);
  if (run.model !== null) {
    lines.push(
      "",
      `  ${run.model} runs on simulated GPUs: its words mean nothing. Ask it:`,
      "",
      `  curl -N ${run.routerUrl}/v1/chat/completions \\`,
      `    -H 'Authorization: Bearer ${run.apiKey}' -H 'Content-Type: application/json' \\`,
      `    -d '{"model":"${run.model}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
      "",
      `  Then move it while it answers:   ${ctl} drain sim-1`,
    );
  } else {
    lines.push("", `  No node has been started. \`${programName()} agent --help\` says how to join one.`);
  }
  lines.push("", "  Ctrl-C stops everything.", "", "");
  return lines.join("\n");
}
