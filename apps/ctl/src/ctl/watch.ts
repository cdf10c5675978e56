import type { Clock } from "@llmgw/service";
import { exit } from "./exit.ts";
import { type Format, type ListSpec, talk, write } from "./output.ts";
import { isUnreachable } from "./report-error.ts";
import { table } from "./table.ts";

export interface WatchOptions<T> extends ListSpec<T> {
  readonly format: Format;
  readonly fetch: () => Promise<readonly T[]>;
  readonly clock: Clock;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
  /** The size of the terminal to repaint; null: rows are appended as they change. */
  readonly screen: () => { readonly columns: number; readonly rows: number } | null;
}

/** How often a watched list is asked for, ms. */
const everyMs = 1_000;

/**
 * Shows a list until Ctrl-C: repainted on a terminal, otherwise each row again when something of it changed (JSON: an
 * object a line). An admin that is away is waited for.
 */
export async function watchRows<T>(options: WatchOptions<T>): Promise<number> {
  const { fetch, clock, signal } = options;
  const append = appender(options);
  let isAway = false;
  while (!signal.aborted) {
    try {
      const rows = await fetch();
      if (isAway) talk("the admin answers again");
      isAway = false;
      const screen = options.screen();
      if (screen !== null && (options.format === "table" || options.format === "wide")) repaint(rows, options, screen);
      else append(rows);
    } catch (error) {
      if (signal.aborted) break;
      if (!isUnreachable(error)) throw error;
      if (!isAway) talk("the admin does not answer; waiting for it");
      isAway = true;
    }
    await clock.sleep(everyMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
  return exit.interrupted;
}

function repaint<T>(
  rows: readonly T[],
  { columns, empty, format }: WatchOptions<T>,
  screen: { readonly columns: number; readonly rows: number },
): void {
  const text = rows.length === 0 ? empty : table(rows, columns, format === "wide" ? null : screen.columns);
  const lines = text.split("\n");
  const room = screen.rows - 1;
  const shown =
    lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} lines more: enlarge it`];
  process.stdout.write(`\u001b[2J\u001b[H${shown.join("\n")}\n`);
}

/** Prints what is new or changed since the last time, and names what has gone. */
function appender<T>({ columns, name, format, empty }: WatchOptions<T>): (rows: readonly T[]) => void {
  const lasting = columns.filter(({ passing }) => passing !== true);
  const known = new Map<string, string>();
  let isFirst = true;
  return (rows) => {
    const isTable = format === "table" || format === "wide";
    const text = (row: T) => (isTable ? lasting.map(({ cell }) => cell(row)).join("\u0000") : JSON.stringify(row));
    const changed = rows.filter((row) => known.get(name(row)) !== text(row));
    const gone = [...known.keys()].filter((one) => !rows.some((row) => name(row) === one));
    for (const row of changed) known.set(name(row), text(row));
    for (const one of gone) known.delete(one);
    if (isFirst && rows.length === 0 && isTable) talk(empty);
    if (changed.length > 0) {
      if (format === "json") for (const row of changed) write(JSON.stringify(row));
      else if (format === "yaml") for (const row of changed) write(`---\n${JSON.stringify(row, null, 2)}`);
      else if (format === "name") for (const row of changed) write(name(row));
      else {
        const lines = table(changed, columns).split("\n");
        write((isFirst ? lines : lines.slice(1)).join("\n"));
      }
    }
    isFirst = false;
    for (const one of gone) talk(`${one} is gone`);
  };
}
