import { type Command, Option } from "commander";
import { type Connection, connect } from "./connect.ts";
import { type Format, formats } from "./output.ts";

/** What each command gets: the connection (made when first needed) and the output format. */
export interface CommandContext {
  readonly format: Format;
  readonly connection: () => Promise<Connection>;
}

/** Adds a command's common options and turns its action into one that stores its exit code. */
export function contextOf(command: Command, env: NodeJS.ProcessEnv): CommandContext {
  const options = command.optsWithGlobals<{ output: Format; url?: string }>();
  let made: Promise<Connection> | null = null;
  return {
    format: options.output,
    connection: () => {
      made ??= connect({ url: options.url }, env);
      return made;
    },
  };
}

export const outputOption = () =>
  new Option("-o, --output <format>", "how to print: table, json or yaml (the API's objects), name")
    .choices(formats)
    .default("table");
