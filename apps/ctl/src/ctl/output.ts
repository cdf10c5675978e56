import picocolors from "picocolors";
import { stringify } from "yaml";
import { type Column, table } from "./table.ts";

export const formats = ["table", "wide", "json", "yaml", "name"] as const;
export type Format = (typeof formats)[number];

/** How a list prints: which columns, what names a row, and what is said when there is none. */
export interface ListSpec<T> {
  readonly columns: readonly Column<T>[];
  readonly name: (row: T) => string;
  readonly empty: string;
}

/** Prints rows in the format asked for. JSON and YAML are the API's own objects, unchanged. */
export function printRows<T>(rows: readonly T[], options: ListSpec<T> & { readonly format: Format }): void {
  const { format, columns, name, empty } = options;
  if (format === "json") write(JSON.stringify(rows, null, 2));
  else if (format === "yaml") write(stringify(rows).trimEnd());
  else if (format === "name") for (const row of rows) write(name(row));
  else if (rows.length === 0) talk(empty);
  else write(table(rows, columns, tableWidth(format)));
}

/** The terminal's width for a table; null when it is piped or everything is wanted. */
export function tableWidth(format: Format): number | null {
  return format !== "wide" && process.stdout.isTTY ? process.stdout.columns : null;
}

export interface OneWords {
  readonly text: () => string;
  readonly name: () => string;
}

/** Prints one object: JSON or YAML as it is, its name where it has one, otherwise the given text. */
export function printOne(value: unknown, format: Format, words: (() => string) | OneWords): void {
  const { text, name } = typeof words === "function" ? { text: words, name: words } : words;
  if (format === "name") write(name());
  else if (format === "json") write(JSON.stringify(value, null, 2));
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

export function gib(mib: number | "unsupported" | "unreadable" | null): string {
  return typeof mib === "number" ? `${(mib / 1024).toFixed(1)} GiB` : (mib ?? "an estimated amount");
}

/** How long ago, in one unit: `12s`, `5m`, `3h`, `2d`. */
export function age(instant: string | null, nowMs: number): string {
  if (instant === null) return "never";
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(instant)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`;
}
