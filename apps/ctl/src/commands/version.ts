import { buildInfo } from "@llmgw/service";
import { exit } from "../ctl/exit.ts";
import { write } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl version`: no connection needed. */
async function version(): Promise<number> {
  const { version: number, commit } = buildInfo();
  write(`llmgw ${number}${commit === "unknown" ? "" : ` (${commit.slice(0, 12)})`}`);
  return exit.ok;
}

export function registerVersion(registrar: Registrar): void {
  const command = registrar.verb({
    usage: "version",
    description: "this program's version",
    examples: ["version", "--help"],
  });
  registrar.on(command, version);
}
