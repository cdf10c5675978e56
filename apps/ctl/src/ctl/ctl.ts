import { Command, CommanderError } from "commander";
import { type Connect, type ConnectOptions, withCommonOptions } from "./context.ts";
import { exit, exitCodesHelp } from "./exit.ts";
import { talk } from "./output.ts";
import { programName } from "./program-name.ts";
import { Registrar } from "./registrar.ts";
import { type Registration, registrations } from "./registrations.ts";
import { checkVariables } from "./variables.ts";

/** What a caller can put in the place of the real thing. */
export interface CtlOptions {
  readonly connect?: Connect;
}

/** `llmgw ctl …`: parses, runs one command, and resolves to its exit code. */
export async function ctl(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  { connect = connectLater }: CtlOptions = {},
): Promise<number> {
  let code: number = exit.ok;
  const program = ctlProgram();
  const registrar = new Registrar(program, { env, connect }, (made) => {
    code = made;
  });
  try {
    checkVariables(env);
    for (const register of await needed(argv)) register(registrar);
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage;
    const { explainError } = await import("./report-error.ts");
    const { url } = program.opts<ConnectOptions>();
    const { message, exitCode } = explainError(error, url ?? env["LLMGW_ADMIN_URL"] ?? "its address");
    talk(`error: ${message}`);
    return exitCode;
  }
}

/** The program without its commands. An option belongs to the command behind whose name it stands. */
export function ctlProgram(): Command {
  const program = new Command(`${programName()} ctl`)
    .description("The command line of a cluster.")
    .enablePositionalOptions()
    .addHelpText("after", exitCodesHelp)
    .showSuggestionAfterError()
    .showHelpAfterError("(add --help for what it takes)")
    .exitOverride();
  return withCommonOptions(program, { prints: true });
}

/** The admin's client takes most of a start, and some commands need none. */
const connectLater: Connect = async (options, env) => (await import("./connect.ts")).connect(options, env);

/** What to register for a command line: the command that it begins with, or everything where that is not plain (help, typos). */
async function needed([first = ""]: readonly string[]): Promise<readonly Registration[]> {
  const named = Object.hasOwn(registrations, first) ? registrations[first] : undefined;
  const loaders = named === undefined ? [...new Set(Object.values(registrations))] : [named];
  return Promise.all(loaders.map((load) => load()));
}
