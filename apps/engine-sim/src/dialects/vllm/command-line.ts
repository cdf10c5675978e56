import { flagValues } from "../../cli/flag-values.ts";
import { parseFlags } from "../../cli/parse-flags.ts";
import { readSimSettings, SIM_FLAGS } from "../../cli/sim-flags.ts";
import type { ServeSettings } from "../openai/serve-settings.ts";
import { vllmFlags } from "./flags.ts";
import { readVllmSettings } from "./settings.ts";

export type CommandLine =
  | { readonly kind: "serve"; readonly settings: ServeSettings }
  | { readonly kind: "help" }
  /** Text for stderr, in argparse's shape; the exit code is 2. */
  | { readonly kind: "usage"; readonly text: string };

export interface VllmEnvironment {
  readonly apiKey: string | undefined;
  readonly faults: string | undefined;
}

/** @param argv what follows `--dialect vllm`: `serve MODEL [options]` */
export function parseVllmCommandLine(argv: readonly string[], environment: VllmEnvironment): CommandLine {
  const [command, ...rest] = argv;
  if (command === "--help" || command === "-h") {
    return { kind: "help" };
  }
  if (command !== "serve") {
    const problem =
      command === undefined
        ? "the following arguments are required: subparser"
        : `argument subparser: invalid choice: '${command}' (choose from 'serve')`;
    return usage("vllm [-h] [-v] {serve} ...", "vllm", problem);
  }
  const parsed = parseFlags(rest, [...vllmFlags(), ...SIM_FLAGS], 1);
  if (parsed.kind === "help") {
    return parsed;
  }
  if (parsed.kind === "error") {
    return parsed.unrecognized
      ? usage("vllm [-h] [-v] {serve} ...", "vllm", parsed.message)
      : usage("vllm serve [model_tag] [options]", "vllm serve", parsed.message);
  }
  const flags = flagValues(parsed.values);
  const sim = readSimSettings(flags, environment.faults);
  if (sim.kind === "invalid") {
    return usage("vllm serve [model_tag] [options]", "vllm serve", sim.message);
  }
  const [model] = parsed.positionals;
  const settings = readVllmSettings({ model, flags, sim: sim.settings, envApiKey: environment.apiKey });
  return { kind: "serve", settings };
}

function usage(synopsis: string, program: string, problem: string): CommandLine {
  return { kind: "usage", text: `usage: ${synopsis}\n${program}: error: ${problem}\n` };
}
