import Table from "cli-table3";
import picocolors from "picocolors";
import { stringify } from "yaml";

export const formats = ["table", "json", "yaml", "name"] as const;
export type Format = (typeof formats)[number];

/** One column of a table: its head and what a row says in it. */
export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => string;
}

/** Prints rows in the format asked for. JSON and YAML are the API's own objects, unchanged. */
export function printRows<T>(
  rows: readonly T[],
  options: { format: Format; columns: readonly Column<T>[]; name: (row: T) => string; empty: string },
): void {
  if (options.format === "json") write(JSON.stringify(rows, null, 2));
  else if (options.format === "yaml") write(stringify(rows).trimEnd());
  else if (options.format === "name") for (const row of rows) write(options.name(row));
  else if (rows.length === 0) talk(options.empty);
  else write(table(rows, options.columns));
}

export function table<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const none = {
    top: "",
    "top-mid": "",
    "top-left": "",
    "top-right": "",
    bottom: "",
    "bottom-mid": "",
    "bottom-left": "",
    "bottom-right": "",
    left: "",
    "left-mid": "",
    mid: "",
    "mid-mid": "",
    right: "",
    "right-mid": "",
    middle: "  ",
  };
  const made = new Table({
    chars: none,
    head: columns.map(({ head }) => head),
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  for (const row of rows) made.push(columns.map(({ cell }) => cell(row)));
  return made
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Prints one object: JSON or YAML as it is, otherwise the given text. */
export function printOne(value: unknown, format: Format, text: () => string): void {
  if (format === "json") write(JSON.stringify(value, null, 2));
  else if (format === "yaml") write(stringify(value).trimEnd());
  else write(text());
}

/** Data goes to standard output. */
export function write(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Talk (progress, questions, hints) goes to standard error. */
export function talk(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A state with its colour; the word says it all without one. */
export function state(word: string): string {
  if (/serving|active|live|healthy|complete$|^ok$/.test(word)) return picocolors.green(word);
  if (/failed|lost|unhealthy|denied|stuck/.test(word)) return picocolors.red(word);
  if (/draining|moving|cordoned|suspect|degraded|starting|pending/.test(word)) return picocolors.yellow(word);
  return word;
}

export function gib(mib: number | "unsupported" | "unreadable"): string {
  return typeof mib === "number" ? `${(mib / 1024).toFixed(1)} GiB` : mib;
}

/** How long ago, in one unit: `12s`, `5m`, `3h`, `2d`. */
export function age(instant: string | null, nowMs: number): string {
  if (instant === null) return "never";
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(instant)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`;
}
