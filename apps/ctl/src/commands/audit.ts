import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { printRows, state } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

interface AuditOptions {
  readonly limit: string;
  readonly actor?: string;
  readonly verb?: string;
  readonly target?: string;
  readonly cause?: string;
}

/** `ctl audit`: who did what, newest last. */
async function audit(context: CommandContext, options: AuditOptions): Promise<number> {
  const { client } = await context.connection();
  const { actor, verb, target, cause } = options;
  const { rows } = await client.audit.list.query({ limit: Number(options.limit), actor, verb, target, cause });
  printRows(rows.reverse(), {
    format: context.format,
    name: (row) => String(row.seq),
    empty: "No audit row matches.",
    columns: [
      { head: "SEQ", cell: (row) => String(row.seq) },
      { head: "AT", cell: (row) => row.at },
      { head: "ACTOR", cell: (row) => `${row.actorKind}:${row.actor}` },
      { head: "VERB", cell: (row) => row.verb },
      { head: "TARGET", cell: (row) => row.target },
      { head: "OUTCOME", cell: (row) => state(row.outcome) },
      { head: "REASON", cell: (row) => row.reason ?? "" },
      { head: "CAUSE", cell: (row) => row.cause ?? "" },
    ],
  });
  return exit.ok;
}

export function registerAudit(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "audit",
      description: "who did what, when and why",
      examples: ["audit --limit 20", "audit --cause drain_0199…"],
    })
    .option("--limit <n>", "how many rows", "50")
    .option("--actor <name>", "only by this actor")
    .option("--verb <verb>", "only this verb")
    .option("--target <target>", "only on this target")
    .option("--cause <id>", "only what this drain caused");
  registrar.on<AuditOptions>(command, (context, _args, options) => audit(context, options));
}
