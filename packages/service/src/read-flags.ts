import { didYouMean } from "./did-you-mean.ts";
import { isSwitch, type SettingsRecord } from "./settings.ts";

/** What the command line said: text per setting key, and every problem found in it. */
export interface FlagReading {
  readonly texts: ReadonlyMap<string, string>;
  readonly help: boolean;
  readonly problems: readonly string[];
}

/** Reads `--flag value`, `--flag=value`, `--switch` and `--no-switch`. The last of a repeated flag counts. */
export function readFlags(settings: SettingsRecord, argv: readonly string[]): FlagReading {
  const byFlag = new Map<string, { key: string; isSwitch: boolean }>();
  for (const [key, setting] of Object.entries(settings)) {
    if (setting.flag !== undefined) byFlag.set(setting.flag, { key, isSwitch: isSwitch(setting) });
  }
  const texts = new Map<string, string>();
  const problems: string[] = [];
  let help = false;
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--help" || word === "-h") {
      help = true;
      continue;
    }
    if (!word.startsWith("--") || word === "--") {
      problems.push(`unexpected argument ${JSON.stringify(word)}: this program takes only flags`);
      continue;
    }
    const equals = word.indexOf("=");
    const name = word.slice(2, equals === -1 ? undefined : equals);
    const attached = equals === -1 ? undefined : word.slice(equals + 1);
    const negated = name.startsWith("no-") ? byFlag.get(name.slice(3)) : undefined;
    const flag = byFlag.get(name);
    if (flag === undefined && negated?.isSwitch === true && attached === undefined) {
      texts.set(negated.key, "false");
    } else if (flag === undefined) {
      problems.push(unknownFlag(name, [...byFlag.keys(), "help"]));
      // The word after an unknown flag is most likely its value: reporting it too would only add noise.
      if (attached === undefined && rest[0]?.startsWith("--") === false) rest.shift();
    } else if (flag.isSwitch) {
      texts.set(flag.key, attached ?? "true");
    } else {
      const value = attached ?? (rest[0]?.startsWith("--") === false ? rest.shift() : undefined);
      if (value === undefined) problems.push(`--${name} needs a value: --${name}=VALUE`);
      else texts.set(flag.key, value);
    }
  }
  return { texts, help, problems };
}

function unknownFlag(name: string, known: readonly string[]): string {
  const near = didYouMean(name, known);
  const hint = near === undefined ? "--help lists the flags" : `did you mean --${near}?`;
  return `unknown flag --${name}; ${hint}`;
}
