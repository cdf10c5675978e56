import { ConfigError, HelpRequested } from "./config-error.ts";
import { formatHelp } from "./format-help.ts";
import { unknownVariables } from "./known-variables.ts";
import { readFlags } from "./read-flags.ts";
import {
  isSwitch,
  type Setting,
  type SettingsDefinition,
  type SettingsOf,
  type SettingsRecord,
  settingNames,
} from "./settings.ts";

/** Where a setting's value came from. A program with a file or stored values puts those above `default`. */
export type SettingSource = "flag" | "env" | "default";

export interface SettingsInput {
  /** The words after the program's name: `process.argv.slice(2)`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface SettingsReading<R extends SettingsRecord> {
  readonly values: SettingsOf<R>;
  readonly sources: Readonly<Record<keyof R, SettingSource>>;
}

/**
 * Reads a program's settings: flag, then environment, then default. Throws one `ConfigError` with every problem found
 * (bad values, unknown flags, unknown `LLMGW_*` variables), and `HelpRequested` on `--help`.
 */
export function parseSettings<R extends SettingsRecord>(
  definition: SettingsDefinition<R>,
  input: SettingsInput,
): SettingsOf<R> {
  return readSettings(definition, input).values;
}

/** As `parseSettings`, and says where each value came from. */
export function readSettings<R extends SettingsRecord>(
  definition: SettingsDefinition<R>,
  { argv, env }: SettingsInput,
): SettingsReading<R> {
  const flags = readFlags(definition.settings, argv);
  if (flags.help) throw new HelpRequested(formatHelp(definition));
  const own = Object.values(definition.settings).flatMap((setting) => setting.env ?? []);
  const problems = [...flags.problems, ...unknownVariables(env, own)];
  const values: Record<string, unknown> = {};
  const sources: Record<string, SettingSource> = {};
  for (const [key, setting] of Object.entries(definition.settings)) {
    const found = find(setting, flags.texts.get(key), env);
    sources[key] = found.source;
    const parsed = parse(setting, found);
    if (parsed.kind === "ok") values[key] = parsed.value;
    else problems.push(parsed.problem);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  // The loop above put one parsed value under every key of the definition, which TypeScript cannot see.
  return Object.freeze({ values: Object.freeze(values), sources }) as SettingsReading<R>;
}

interface Found {
  readonly source: SettingSource;
  /** The name to blame: the flag or variable that held the value, or the ones that could have. */
  readonly name: string;
  readonly value: unknown;
}

function find(setting: Setting, flagText: string | undefined, env: SettingsInput["env"]): Found {
  if (flagText !== undefined) return { source: "flag", name: `--${setting.flag}`, value: flagText };
  const envText = setting.env === undefined ? undefined : env[setting.env];
  if (setting.env !== undefined && envText !== undefined && envText !== "") {
    return { source: "env", name: setting.env, value: envText };
  }
  return { source: "default", name: settingNames(setting).join(" or "), value: setting.default };
}

type Parsed = { readonly kind: "ok"; readonly value: unknown } | { readonly kind: "bad"; readonly problem: string };

function parse(setting: Setting, { source, name, value }: Found): Parsed {
  if (source === "default" && value !== undefined && typeof value !== "string") return { kind: "ok", value };
  const input = isSwitch(setting) && typeof value === "string" ? switchValue(value) : value;
  const result = setting.schema.safeParse(input);
  if (result.success) return { kind: "ok", value: result.data };
  const expected = [...new Set(result.error.issues.map((issue) => issue.message))].join("; ");
  if (value === undefined) return { kind: "bad", problem: `${name} is not set: ${expected}` };
  const shown = setting.secret === true ? "a value (not shown)" : JSON.stringify(value);
  return { kind: "bad", problem: `${name} is ${shown}: ${expected}` };
}

function switchValue(text: string): unknown {
  const word = text.trim().toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  if (["0", "false", "no", "off"].includes(word)) return false;
  return text;
}
