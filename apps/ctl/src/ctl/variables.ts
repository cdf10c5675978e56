import { unknownVariables } from "@llmgw/service/known-variables";
import { CtlError, exit } from "./exit.ts";

/** Refuses `LLMGW_*` variables that no llmgw program reads, as every other program does. */
export function checkVariables(env: NodeJS.ProcessEnv): void {
  const problems = unknownVariables(env);
  if (problems.length > 0) throw new CtlError(problems.join("\n       "), exit.usage);
}
