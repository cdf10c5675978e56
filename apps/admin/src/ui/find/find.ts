/** How the rows of a table are found and put in order; pure, so that the URL alone decides what is shown. */
export interface Searchable<T> {
  /** What a row is found by. */
  readonly texts: (row: T) => readonly string[];
  /** The words of the states that a row is in; a filter offers those that occur. */
  readonly states: (row: T) => readonly string[];
}

/** A column to sort by, and which way. */
export interface Sorting {
  readonly column: string;
  readonly descending: boolean;
}

type SortKey = number | string;

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** Whether every word of `text` occurs in one of `texts`, whatever the case. */
export function matches(text: string, texts: readonly string[]): boolean {
  const lower = texts.map((each) => each.toLowerCase());
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return words.every((word) => lower.some((each) => each.includes(word)));
}

/** The rows in order of a key. Numbers in names count as numbers: `gpu-2` is before `gpu-10`. */
export function sorted<T>(rows: readonly T[], key: (row: T) => SortKey, descending: boolean): readonly T[] {
  const keyed = rows.map((row) => ({ row, key: key(row) }));
  const sign = descending ? -1 : 1;
  return keyed.sort((a, b) => sign * compare(a.key, b.key)).map(({ row }) => row);
}

function compare(a: SortKey, b: SortKey): number {
  return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
}

/** How many rows are in each state, most first. */
export function stateCounts<T>(rows: readonly T[], states: Searchable<T>["states"]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of rows.flatMap((row) => [...new Set(states(row))])) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Map([...counts].sort((a, b) => b[1] - a[1]));
}

/** `-memory` is the column `memory`, greatest first. */
export function parseSorting(text: string): Sorting | null {
  const column = text.replace(/^-/, "");
  return column === "" ? null : { column, descending: text.startsWith("-") };
}

/** What a click on a column's head asks for next: upwards, downwards, then the table's own order again. */
export function nextSorting(now: Sorting | null, column: string): string | null {
  if (now?.column !== column) return column;
  return now.descending ? null : `-${column}`;
}
