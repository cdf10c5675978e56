import { type BuildInfo, buildInfo } from "@llmgw/service/build-info";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { printOne } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl version`: no connection needed. */
async function version({ format }: CommandContext): Promise<number> {
  const build = buildInfo();
  printOne(build, format, () => versionLine(build));
  return exit.ok;
}

/** `llmgw 0.1.0 (0123456789ab)`; what `llmgw --version` prints, too. */
export function versionLine({ version: number, commit }: BuildInfo): string {
  return `llmgw ${number}${commit === "unknown" ? "" : ` (${commit.slice(0, 12)})`}`;
}

export function registerVersion(registrar: Registrar): void {
  const command = registrar.verb({
    usage: "version",
    description: "this program's version",
    examples: ["version", "version -o json"],
  });
  registrar.on(command, version);
}
