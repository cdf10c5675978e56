import { z } from "zod";

/**
 * One setting of a program. It is read from a flag, an environment variable or its default, in this order.
 * A setting whose schema is `z.boolean()` is a switch: `--name`, `--no-name`, `--name=false`, or 1/0, true/false, yes/no,
 * on/off in the environment. Every other schema is given the text as it was written.
 */
export interface Setting<S extends z.ZodType = z.ZodType> {
  /** Environment variable, such as `LLMGW_ROUTER_LISTEN`. An empty variable counts as unset. */
  readonly env?: string;
  /** Flag without its dashes, such as `listen`. */
  readonly flag?: string;
  readonly schema: S;
  /** A text is read by the schema like a person's; any other value is taken as it is. Without one, an unset setting is an error unless the schema accepts undefined. */
  readonly default?: string | z.output<S>;
  /** One line for `--help`. */
  readonly help: string;
  /** What `--help` calls the value, `VALUE` when not given. */
  readonly valueName?: string;
  /** The value is a credential: never printed. */
  readonly secret?: boolean;
}

export type SettingsRecord = Readonly<Record<string, Setting>>;

/** All settings of one program, with what `--help` says above them. */
export interface SettingsDefinition<R extends SettingsRecord = SettingsRecord> {
  readonly settings: R;
  readonly about: About;
}

export interface About {
  /** How the program is called, such as `llmgw router`. */
  readonly program: string;
  /** One or two sentences on what it does. */
  readonly summary: string;
}

/** The readonly object a program works with: each setting's parsed value under its name in the definition. */
export type SettingsOf<R extends SettingsRecord> = { readonly [K in keyof R]: z.output<R[K]["schema"]> };

/**
 * Declares a program's settings, once. Throws if two settings share a flag or a variable, or one has neither: that is a
 * bug in the program, not in its configuration.
 */
export function defineSettings<R extends SettingsRecord>(
  settings: R,
  about: About = { program: "llmgw", summary: "" },
): SettingsDefinition<R> {
  const taken = new Set<string>(["--help"]);
  for (const [key, setting] of Object.entries(settings)) {
    const names = settingNames(setting);
    if (names.length === 0) throw new Error(`setting "${key}" has neither a flag nor an environment variable`);
    for (const name of names) {
      if (taken.has(name)) throw new Error(`setting "${key}" uses ${name}, which is taken`);
      taken.add(name);
    }
  }
  return { settings, about };
}

/** The names a person can use for a setting: its variable first, then its flag with dashes. */
export function settingNames(setting: Pick<Setting, "env" | "flag">): string[] {
  return [
    ...(setting.env === undefined ? [] : [setting.env]),
    ...(setting.flag === undefined ? [] : [`--${setting.flag}`]),
  ];
}

/** True for a setting that is on or off and whose flag takes no value. */
export function isSwitch(setting: Setting): boolean {
  let schema: unknown = setting.schema;
  while (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) schema = schema.unwrap();
  return schema instanceof z.ZodBoolean;
}
