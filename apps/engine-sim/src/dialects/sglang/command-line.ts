import { flagValues } from "../../cli/flag-values.ts";
import { type FlagParse, parseFlags } from "../../cli/parse-flags.ts";
import { readSimSettings, SIM_FLAGS } from "../../cli/sim-flags.ts";
import type { ServeSettings } from "../openai/serve-settings.ts";
import { sglangFlags } from "./flags.ts";
import { readSglangSettings } from "./settings.ts";

export type SglangCommandLine =
  | { readonly kind: "serve"; readonly settings: ServeSettings }
  | { readonly kind: "help" }
  /** Text for stderr, in argparse's shape; the exit code is 2. */
  | { readonly kind: "usage"; readonly text: string };

export interface SglangEnvironment {
  readonly faults: string | undefined;
  /** The text of a file named by `--config`; throws when it cannot be read. */
  readonly readFile: (path: string) => string;
}

/** @param argv what follows `--dialect sglang`: `serve --model-path MODEL [options]` */
export function parseSglangCommandLine(argv: readonly string[], environment: SglangEnvironment): SglangCommandLine {
  const [command, ...rest] = argv;
  if (command === "--help" || command === "-h") {
    return { kind: "help" };
  }
  if (command !== "serve") {
    const found =
      command === undefined
        ? "the following arguments are required: subcommand"
        : `argument subcommand: invalid choice: '${command}' (choose from 'serve')`;
    return usage("sglang [-h] {serve} ...", "sglang", found);
  }
  const parsed = parseWithConfig(rest, environment);
  if (parsed.kind === "help") {
    return parsed;
  }
  if (parsed.kind === "error") {
    return serveUsage(parsed.message);
  }
  const flags = flagValues(parsed.values);
  const sim = readSimSettings(flags, environment.faults);
  if (sim.kind === "invalid") {
    return serveUsage(sim.message);
  }
  const model = flags.string("--model-path");
  if (model === undefined) {
    return serveUsage("the following arguments are required: --model-path/--model");
  }
  return { kind: "serve", settings: readSglangSettings({ model, flags, sim: sim.settings }) };
}

/** Words of the file come first, so that the command line wins. */
function parseWithConfig(argv: readonly string[], environment: SglangEnvironment): FlagParse {
  const specs = [...sglangFlags(), ...SIM_FLAGS];
  const parsed = parseFlags(argv, specs, 0);
  const path = parsed.kind === "parsed" ? parsed.values.get("--config") : undefined;
  return typeof path === "string"
    ? parseFlags([...configWords(environment.readFile(path)), ...argv], specs, 0)
    : parsed;
}

/** `key: value` lines of a YAML file, as words of a command line. */
function configWords(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const match = /^([\w-]+):\s*(.*?)\s*$/.exec(line);
    const [, key = "", value = ""] = match ?? [];
    if (match === null || value === "false") {
      return [];
    }
    return value === "true" ? [`--${key}`] : [`--${key}`, value.replace(/^(["'])(.*)\1$/, "$2")];
  });
}

function serveUsage(problem: string): SglangCommandLine {
  return usage("sglang serve [-h] --model-path MODEL_PATH [options]", "sglang serve", problem);
}

function usage(synopsis: string, program: string, problem: string): SglangCommandLine {
  return { kind: "usage", text: `usage: ${synopsis}\n${program}: error: ${problem}\n` };
}
