import { Command, CommanderError } from "commander";
import { registerAudit } from "../commands/audit.ts";
import { registerAvailability } from "../commands/availability.ts";
import { registerDrain } from "../commands/drain.ts";
import { registerExplainPlacement } from "../commands/explain-placement.ts";
import { registerKeys } from "../commands/keys.ts";
import { registerLogs } from "../commands/logs.ts";
import { registerModels } from "../commands/models.ts";
import { registerNodes } from "../commands/nodes.ts";
import { registerReplicas } from "../commands/replicas.ts";
import { registerRouters } from "../commands/routers.ts";
import { registerSignIn } from "../commands/sign-in.ts";
import { registerStatus } from "../commands/status.ts";
import { registerUsage } from "../commands/usage.ts";
import { registerVersion } from "../commands/version.ts";
import { outputOption } from "./context.ts";
import { exit, exitCodesHelp } from "./exit.ts";
import { talk } from "./output.ts";
import { Registrar } from "./registrar.ts";
import { explainError } from "./report-error.ts";

const registrations = [
  registerStatus,
  registerNodes,
  registerModels,
  registerReplicas,
  registerExplainPlacement,
  registerAvailability,
  registerDrain,
  registerRouters,
  registerKeys,
  registerUsage,
  registerLogs,
  registerAudit,
  registerSignIn,
  registerVersion,
];

/** `llmgw ctl …`: parses, runs one command, and resolves to its exit code. */
export async function ctl(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  let code: number = exit.ok;
  const program = new Command("llmgw ctl")
    .description("The command line of a cluster.")
    .option("--url <url>", "the admin's address (default: LLMGW_ADMIN_URL, then the local cluster)")
    .addOption(outputOption())
    .addHelpText("after", exitCodesHelp)
    .showSuggestionAfterError()
    .showHelpAfterError("(add --help for what it takes)")
    .exitOverride();
  const registrar = new Registrar(program, env, (made) => {
    code = made;
  });
  for (const register of registrations) register(registrar);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exit.ok : exit.usage;
    const url = program.opts<{ url?: string }>().url ?? env["LLMGW_ADMIN_URL"] ?? "its address";
    const { message, exitCode } = explainError(error, url);
    talk(`error: ${message}`);
    return exitCode;
  }
}
