/** How a flag's value is read. The kinds are those that Python's argparse and vLLM's own types give. */
export type FlagKind =
  | "string"
  | "int"
  /** An int that may be written 8k (8000), 8K (8192), 1m, 1M, 1g, 1G. */
  | "human-int"
  | "float"
  | "json"
  /** No value. */
  | "switch"
  /** `--x` or `--no-x`. */
  | "toggle"
  /** One or more values up to the next flag. */
  | "list"
  /** One value, may be given several times. */
  | "repeat";

export interface FlagSpec {
  readonly name: string;
  readonly kind: FlagKind;
  readonly aliases?: readonly string[];
  readonly choices?: readonly string[];
}

export type FlagValue = string | number | boolean | readonly string[];

export type FlagParse =
  | { readonly kind: "parsed"; readonly values: ReadonlyMap<string, FlagValue>; readonly positionals: string[] }
  | { readonly kind: "help" }
  /** `unrecognized` is reported by argparse's outermost parser, everything else by the subcommand's. */
  | { readonly kind: "error"; readonly unrecognized: boolean; readonly message: string };

/**
 * Reads arguments the way vLLM's FlexibleArgumentParser does: `--a-b v`, `--a_b v`, `--a-b=v`, dotted JSON flags, and
 * argparse's own error texts. Positional arguments beyond `maxPositionals` are unrecognized.
 */
export function parseFlags(argv: readonly string[], specs: readonly FlagSpec[], maxPositionals: number): FlagParse {
  const index = indexSpecs(specs);
  const values = new Map<string, FlagValue>();
  const positionals: string[] = [];
  const unrecognized: string[] = [];
  let at = 0;

  while (at < argv.length) {
    const token = argv[at] ?? "";
    at += 1;
    if (token === "--help" || token === "-h") {
      return { kind: "help" };
    }
    if (!isFlag(token)) {
      (positionals.length < maxPositionals ? positionals : unrecognized).push(token);
      continue;
    }
    const { key, inline } = splitToken(token);
    const match = index.get(key) ?? dottedJson(index, key);
    if (match === undefined) {
      unrecognized.push(token);
      continue;
    }
    const taken = inline === undefined ? valuesAfter(argv, at, match.spec.kind) : [inline];
    at += inline === undefined ? taken.length : 0;
    const read = readValue(match, taken, inline !== undefined);
    if (read.kind === "error") {
      return { kind: "error", unrecognized: false, message: read.message };
    }
    const previous = values.get(match.spec.name);
    const merged =
      match.spec.kind === "repeat" && Array.isArray(previous) && Array.isArray(read.value)
        ? [...previous, ...read.value]
        : read.value;
    values.set(match.spec.name, merged);
  }
  return unrecognized.length > 0
    ? { kind: "error", unrecognized: true, message: `unrecognized arguments: ${unrecognized.join(" ")}` }
    : { kind: "parsed", values, positionals };
}

interface Match {
  readonly spec: FlagSpec;
  readonly negated: boolean;
}

function indexSpecs(specs: readonly FlagSpec[]): Map<string, Match> {
  const index = new Map<string, Match>();
  for (const spec of specs) {
    for (const name of [spec.name, ...(spec.aliases ?? [])]) {
      index.set(name, { spec, negated: false });
      if (spec.kind === "toggle" && name.startsWith("--")) {
        index.set(`--no-${name.slice(2)}`, { spec, negated: true });
      }
    }
  }
  return index;
}

/** `--compilation-config.mode 3` sets one key of a JSON flag. */
function dottedJson(index: ReadonlyMap<string, Match>, key: string): Match | undefined {
  const match = key.includes(".") ? index.get(key.slice(0, key.indexOf("."))) : undefined;
  return match?.spec.kind === "json" ? match : undefined;
}

function splitToken(token: string): { key: string; inline: string | undefined } {
  const equals = token.indexOf("=");
  const name = equals < 0 ? token : token.slice(0, equals);
  const key = name.startsWith("--") ? `--${name.slice(2).replaceAll("_", "-")}` : name;
  return { key, inline: equals < 0 ? undefined : token.slice(equals + 1) };
}

/** As argparse: a negative number is a value, anything else that starts with a dash is not. */
function isFlag(token: string): boolean {
  return token.startsWith("-") && token !== "-" && !/^-\d+(\.\d+)?$/.test(token);
}

function valuesAfter(argv: readonly string[], from: number, kind: FlagKind): string[] {
  if (kind === "switch" || kind === "toggle") {
    return [];
  }
  const most = kind === "list" ? argv.length : from + 1;
  const taken: string[] = [];
  for (let at = from; at < most; at += 1) {
    const token = argv[at];
    if (token === undefined || isFlag(token)) {
      break;
    }
    taken.push(token);
  }
  return taken;
}

type ReadValue =
  | { readonly kind: "value"; readonly value: FlagValue }
  | { readonly kind: "error"; readonly message: string };

function readValue(match: Match, taken: readonly string[], inline: boolean): ReadValue {
  const { spec, negated } = match;
  const names = [spec.name, ...(spec.aliases ?? [])].join("/");
  const fail = (message: string): ReadValue => ({ kind: "error", message: `argument ${names}: ${message}` });

  if (spec.kind === "switch" || spec.kind === "toggle") {
    return inline ? fail(`ignored explicit argument '${taken[0] ?? ""}'`) : { kind: "value", value: !negated };
  }
  const [first] = taken;
  if (first === undefined) {
    return fail(spec.kind === "list" ? "expected at least one argument" : "expected one argument");
  }
  if (spec.choices !== undefined && !spec.choices.includes(first)) {
    return fail(`invalid choice: '${first}' (choose from ${spec.choices.map((choice) => `'${choice}'`).join(", ")})`);
  }
  switch (spec.kind) {
    case "list":
    case "repeat":
      return { kind: "value", value: taken };
    case "string":
    case "json":
      return { kind: "value", value: first };
    case "int":
      return /^[+-]?\d+$/.test(first) ? { kind: "value", value: Number(first) } : fail(`invalid int value: '${first}'`);
    case "float":
      return first.trim() !== "" && Number.isFinite(Number(first))
        ? { kind: "value", value: Number(first) }
        : fail(`invalid float value: '${first}'`);
    case "human-int": {
      const value = humanInt(first);
      return value === undefined ? fail(`invalid human_readable_int value: '${first}'`) : { kind: "value", value };
    }
  }
}

const HUMAN_UNITS: Readonly<Record<string, number>> = {
  k: 1e3,
  m: 1e6,
  g: 1e9,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
};

function humanInt(text: string): number | undefined {
  const match = /^(-?\d+(?:\.\d+)?)([kmgKMG]?)$/.exec(text);
  const number = match?.[1];
  if (number === undefined) {
    return undefined;
  }
  const unit = match?.[2] ?? "";
  const value = Number(number) * (HUMAN_UNITS[unit] ?? 1);
  return unit === "" && !Number.isInteger(value) ? undefined : Math.trunc(value);
}
