import { auditVerdict, csvHead, csvLine, eachAuditPage } from "@llmgw/api";
import type { Command } from "commander";
import type { CommandContext } from "../ctl/context.ts";
import { exit } from "../ctl/exit.ts";
import { wholeNumber } from "../ctl/numbers.ts";
import { printOne, printRows, state } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";

interface Filters {
  readonly actor?: string | undefined;
  readonly verb?: string | undefined;
  readonly target?: string | undefined;
  readonly cause?: string | undefined;
}

interface AuditOptions extends Filters {
  readonly limit: string;
}

/** `ctl audit`: who did what, newest last. */
async function audit(context: CommandContext, options: AuditOptions): Promise<number> {
  const limit = wholeNumber("--limit", options.limit, { min: 1, max: 500 });
  const { client } = await context.connection();
  const { rows } = await client.audit.list.query({ limit, ...chosen(options) });
  printRows(rows.reverse(), {
    format: context.format,
    name: (row) => String(row.seq),
    empty: "No audit row matches.",
    columns: [
      { head: "SEQ", cell: (row) => String(row.seq) },
      { head: "AT", cell: (row) => `${row.at.slice(0, 19)}Z`, narrow: "keep" },
      { head: "ACTOR", cell: (row) => `${row.actorKind}:${row.actor}` },
      { head: "VERB", cell: (row) => row.verb },
      { head: "TARGET", cell: (row) => row.target },
      { head: "OUTCOME", cell: (row) => state(row.outcome) },
      { head: "REASON", cell: (row) => row.reason ?? "", narrow: "wrap" },
      { head: "CAUSE", cell: (row) => row.cause ?? "" },
    ],
  });
  return exit.ok;
}

/** `ctl audit verify`: follows the hash chain; exit code 1 when a row is not what was sealed. */
async function verify(context: CommandContext): Promise<number> {
  const { client } = await context.connection();
  const found = await client.audit.verify.query();
  printOne(found, context.format, () => auditVerdict(found));
  return found.problem === null ? exit.ok : exit.refused;
}

/** `ctl audit export`: every row that passes the filters, newest first, a line each, to standard output. */
async function exportRows(context: CommandContext, options: Filters & { readonly csv: boolean }): Promise<number> {
  const { client } = await context.connection();
  const { csv, ...filters } = options;
  if (csv) process.stdout.write(csvHead);
  for await (const rows of eachAuditPage(client, chosen(filters))) {
    for (const row of rows) process.stdout.write(csv ? csvLine(row) : `${JSON.stringify(row)}\n`);
  }
  return exit.ok;
}

const chosen = ({ actor, verb, target, cause }: Filters): Filters => ({ actor, verb, target, cause });

function withFilters(command: Command): Command {
  return command
    .option("--actor <name>", "only by this actor")
    .option("--verb <verb>", "only this verb")
    .option("--target <target>", "only on this target")
    .option("--cause <id>", "only what this drain caused");
}

export function registerAudit(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "audit",
      description: "who did what, when and why",
      examples: ["audit --limit 20", "audit --cause drain_0199…", "audit verify", "audit export --csv > audit.csv"],
    })
    .option("--limit <n>", "how many rows", "50");
  registrar.on<AuditOptions>(withFilters(command), (context, _args, options) => audit(context, options));
  const verifying = registrar.verb({
    usage: "verify",
    description: "check that no row was changed or deleted, by the hash chain over all of them",
    examples: ["audit verify", "audit verify -o json"],
    parent: command,
  });
  registrar.on(verifying, (context) => verify(context));
  const exporting = registrar
    .verb({
      usage: "export",
      description: "print all rows, one JSON object or CSV record a line",
      examples: ["audit export > audit.jsonl", "audit export --csv --verb nodes.setAvailability > drains.csv"],
      parent: command,
      prints: false,
    })
    .option("--csv", "CSV with a head line instead of JSON lines", false);
  registrar.on<Filters & { csv: boolean }>(withFilters(exporting), (context, _args, options) =>
    exportRows(context, options),
  );
}
