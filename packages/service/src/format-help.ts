import { isSwitch, type Setting, type SettingsDefinition } from "./settings.ts";

/** The text of `--help`: usage, summary, then one entry a setting with its flag, variable and default. */
export function formatHelp({ settings, about }: SettingsDefinition): string {
  const entries = [
    ...Object.values(settings).map((setting) => ({ left: left(setting), lines: description(setting) })),
    { left: "--help", lines: ["print this help and exit"] },
  ];
  const width = Math.max(...entries.map((entry) => entry.left.length)) + 2;
  const body = entries.flatMap(({ left, lines }) =>
    lines.map((line, index) => `  ${(index === 0 ? left : "").padEnd(width)}${line}`),
  );
  const head = [`Usage: ${about.program} [flags]`, ...(about.summary === "" ? [] : ["", about.summary])];
  return `${[...head, "", "Flags (each also as the environment variable in brackets; a flag wins):", ...body].join("\n")}\n`;
}

function left(setting: Setting): string {
  if (setting.flag === undefined) return "(environment only)";
  return isSwitch(setting) ? `--${setting.flag}` : `--${setting.flag} ${setting.valueName ?? "VALUE"}`;
}

function description(setting: Setting): string[] {
  const notes = [
    ...(setting.env === undefined ? [] : [`[${setting.env}]`]),
    ...(setting.default === undefined || setting.secret === true ? [] : [`default ${defaultText(setting.default)}`]),
  ];
  return notes.length === 0 ? [setting.help] : [setting.help, notes.join(" ")];
}

function defaultText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
