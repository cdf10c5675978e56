import { stripVTControlCharacters } from "node:util";

/** One column of a table: its head and what a row says in it. */
export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => string;
  /** Where the terminal is too narrow: `keep` (names to copy; the first column's way), `cut` (the others'), or `wrap`. */
  readonly narrow?: "keep" | "cut" | "wrap";
  /** Says how much time went by: a change of it alone is no news. */
  readonly passing?: boolean;
}

const gap = "  ";
/** No column is made narrower than this. */
const leastWidth = 8;

/** Lines up columns; where they exceed `width` columns of a terminal, the widest give way. Null: as wide as it takes. */
export function table<T>(rows: readonly T[], columns: readonly Column<T>[], width: number | null = null): string {
  const cells = [columns.map(({ head }) => head), ...rows.map((row) => columns.map(({ cell }) => oneLine(cell(row))))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => widthOf(line[index] ?? ""))));
  const kept = columns.map(({ narrow }, index) => narrow === "keep" || (narrow === undefined && index === 0));
  if (width !== null) shrink(widths, kept, width);
  return cells
    .flatMap((line) => {
      const parts = columns.map(({ narrow }, index) => {
        const text = line[index] ?? "";
        const room = widths[index] ?? 0;
        if (widthOf(text) <= room) return [text];
        return narrow === "wrap" ? wrap(text, room) : [cut(text, room)];
      });
      const height = Math.max(...parts.map((part) => part.length));
      return Array.from({ length: height }, (_, at) =>
        parts
          .map((part, index) => pad(part[at] ?? "", widths[index] ?? 0))
          .join(gap)
          .trimEnd(),
      );
    })
    .join("\n");
}

/** Takes from the widest columns that may give way until all fit, or none has anything left to give. */
function shrink(widths: number[], kept: readonly boolean[], width: number): void {
  let excess = widths.reduce((sum, one) => sum + one, 0) + gap.length * (widths.length - 1) - width;
  while (excess > 0) {
    const able = widths.map((one, index) => (kept[index] === true || one <= leastWidth ? -1 : one));
    const widest = Math.max(...able);
    if (widest < 0) return;
    widths[able.indexOf(widest)] = widest - 1;
    excess -= 1;
  }
}

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** Columns that a text takes in a terminal: no colour codes, two for East Asian wide characters. */
export function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].reduce((sum, char) => sum + (wide.test(char) ? 2 : 1), 0);
}

/** A text in at most `room` columns; a cut one ends with `…`, and without its colours. */
export function cut(text: string, room: number): string {
  if (widthOf(text) <= room) return text;
  let made = "";
  for (const char of stripVTControlCharacters(text)) {
    if (widthOf(made + char) > room - 1) break;
    made += char;
  }
  return `${made}…`;
}

function wrap(text: string, room: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of stripVTControlCharacters(text).split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer) <= room) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = word;
    for (; widthOf(line) > room; line = line.slice(room)) lines.push(line.slice(0, room));
  }
  return [...lines, line];
}

const pad = (text: string, room: number) => text + " ".repeat(Math.max(0, room - widthOf(text)));
const oneLine = (text: string) => text.replaceAll(/\s*[\r\n]+\s*/g, " ");
