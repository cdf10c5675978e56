import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { age, printRows, state } from "../ctl/output.ts";
import { programName } from "../ctl/program-name.ts";
import type { Registrar } from "../ctl/registrar.ts";

/** `ctl routers`. */
async function routers(context: CommandContext): Promise<number> {
  const { client } = await context.connection();
  const nowMs = Date.now();
  printRows(await client.routers.list.query(), {
    format: context.format,
    name: (router) => router.name,
    empty: `No router has reported. Start one with \`${programName()} router\` (see \`${programName()} router --help\`).`,
    columns: [
      { head: "ROUTER", cell: (router) => router.name },
      { head: "STATE", cell: (router) => state(router.state) },
      { head: "SEEN", cell: (router) => age(router.lastSeenAt, nowMs) },
      { head: "TABLE", cell: (router) => String(router.appliedVersion) },
      { head: "IN FLIGHT", cell: (router) => String(router.inflight) },
      { head: "ADDRESS", cell: (router) => router.address },
      { head: "VERSION", cell: (router) => router.version },
    ],
  });
  return exit.ok;
}

export function registerRouters(registrar: Registrar): void {
  const command = registrar.verb({
    usage: "routers",
    description: "routers and what they have applied",
    examples: ["routers", "routers -o json"],
  });
  registrar.on(command, routers);
}
