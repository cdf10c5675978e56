import { type Command, Option } from "commander";
import type { Connection } from "./connect.ts";
import { type Format, formats } from "./output.ts";

/** Where a command's cluster is, as the command line says it. */
export interface ConnectOptions {
  readonly url?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** How commands reach a cluster; tests give one of their own. */
export type Connect = (options: ConnectOptions, env: NodeJS.ProcessEnv) => Promise<Connection>;

/** What each command gets: the connection (made when first needed) and the output format. */
export interface CommandContext {
  readonly format: Format;
  readonly connection: () => Promise<Connection>;
}

export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly connect: Connect;
}

export function contextOf(command: Command, { env, connect }: Surroundings): CommandContext {
  const { output = "table", ...where } = optionsOf<{ output?: Format } & ConnectOptions>(command);
  let made: Promise<Connection> | null = null;
  return {
    format: output,
    connection: () => {
      made ??= connect(where, env);
      return made;
    },
  };
}

/**
 * A command's options: what stands behind its name, else what stands before it (`drain --yes force sim-1`,
 * `-o json nodes`), else its defaults. Only options that the command itself takes.
 */
export function optionsOf<O extends object>(command: Command): O {
  const own = command.options.map((option) => option.attributeName());
  const entries = own.map((name) => {
    let giver: Command | null = command;
    while (giver !== null && giver.getOptionValueSource(name) !== "cli") giver = giver.parent;
    return [name, (giver ?? command).getOptionValue(name)];
  });
  return Object.fromEntries(entries) as O; // commander's own values, under the names that it gives them
}

const outputOption = () =>
  new Option("-o, --output <format>", "table, wide (nothing cut off), json or yaml (the API's objects), name")
    .choices(formats)
    .default("table");

/** Adds the options that say which cluster and, where the command prints data, in which form. */
export function withCommonOptions(command: Command, { prints }: { prints: boolean }): Command {
  if (prints) command.addOption(outputOption());
  return command
    .option("--url <url>", "the admin's address (default: LLMGW_ADMIN_URL, then the local cluster)")
    .option("--data-dir <dir>", "the data folder of a local cluster, whose run.json is read (default: LLMGW_DATA_DIR)");
}
