import type { RunFile } from "@llmgw/wire";

/** What `llmgw up` prints once everything serves. */
export function banner(run: RunFile, signInUrl: string): string {
  const lines = [
    "",
    "  llmgw is up.",
    "",
    `  Dashboard   ${signInUrl}`,
    "              (signs one browser in, once; `npx llmgw ctl sign-in` makes another link)",
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
      "  Then move it while it answers:   npx llmgw ctl drain sim-1",
    );
  } else {
    lines.push("", "  No node has been started. `npx llmgw agent --help` says how to join one.");
  }
  lines.push("", "  Ctrl-C stops everything.", "", "");
  return lines.join("\n");
}
