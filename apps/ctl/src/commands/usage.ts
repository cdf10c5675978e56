import type { UsageView } from "@llmgw/api";
import { parseDuration } from "@llmgw/service";
import type { CommandContext } from "../ctl/context.ts";
import { CtlError, exit } from "../ctl/exit.ts";
import { printRows } from "../ctl/output.ts";
import type { Registrar } from "../ctl/registrar.ts";
import type { Column } from "../ctl/table.ts";
import { usageTotals } from "./usage-totals.ts";

interface UsageOptions {
  readonly since: string;
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly hourly: boolean;
}

/** `ctl usage`: tokens by key and model. */
async function usage(context: CommandContext, options: UsageOptions): Promise<number> {
  const { client } = await context.connection();
  const sinceMs = parseDuration(options.since);
  if (sinceMs === undefined) {
    throw new CtlError(`--since is "${options.since}": expected a duration such as 24h or 30d`, exit.usage);
  }
  const from = new Date(Date.now() - sinceMs).toISOString();
  const rows = await client.usage.list.query({ from, key: options.key, model: options.model });
  const hour: Column<UsageView> = { head: "HOUR", cell: (row) => row.hour.slice(0, 16) };
  printRows(options.hourly ? rows : usageTotals(rows), {
    format: context.format,
    name: (row) => `${row.keyId}/${row.model}`,
    empty: `Nothing was used since ${from}. Routers report every 10 seconds.`,
    columns: [
      ...(options.hourly ? [hour] : []),
      { head: "KEY", cell: (row) => row.keyName ?? row.keyId },
      { head: "MODEL", cell: (row) => row.model },
      { head: "REQUESTS", cell: (row) => String(row.requests) },
      { head: "PROMPT", cell: (row) => String(row.promptTokens) },
      { head: "CACHED", cell: (row) => String(row.cachedTokens) },
      { head: "COMPLETION", cell: (row) => String(row.completionTokens) },
      { head: "ESTIMATED", cell: (row) => `${Math.round((100 * row.estimatedRequests) / row.requests)} %` },
    ],
  });
  return exit.ok;
}

export function registerUsage(registrar: Registrar): void {
  const command = registrar
    .verb({
      usage: "usage",
      description: "tokens and requests by key and model",
      examples: ["usage --since 30d", "usage --key alice --hourly -o json"],
    })
    .option("--since <duration>", "how far back", "24h")
    .option("--key <key>", "only of this key (id or name)")
    .option("--model <model>", "only of this model")
    .option("--hourly", "a row for each hour instead of sums", false);
  registrar.on<UsageOptions>(command, (context, _args, options) => usage(context, options));
}
