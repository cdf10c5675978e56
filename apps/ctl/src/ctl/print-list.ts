import { systemClock } from "@llmgw/service";
import type { CommandContext } from "./context.ts";
import { exit } from "./exit.ts";
import { type ListSpec, printRows } from "./output.ts";
import { untilInterrupted } from "./until-interrupted.ts";
import { watchRows } from "./watch.ts";

export const watchOption = [
  "-w, --watch",
  "go on showing it: repainted on a terminal, else rows as they change",
] as const;

/** Prints a list once, or with `watch` until Ctrl-C. */
export async function printList<T>(
  { format }: CommandContext,
  list: ListSpec<T> & { readonly fetch: () => Promise<readonly T[]>; readonly watch: boolean | undefined },
): Promise<number> {
  if (list.watch !== true) {
    printRows(await list.fetch(), { ...list, format });
    return exit.ok;
  }
  const screen = () => (process.stdout.isTTY ? { columns: process.stdout.columns, rows: process.stdout.rows } : null);
  return untilInterrupted((signal) => watchRows({ ...list, format, clock: systemClock, signal, screen }));
}
