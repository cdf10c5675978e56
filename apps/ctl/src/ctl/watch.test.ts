import type { Clock } from "@llmgw/service";
import { expect, test, vi } from "vitest";
import { watchRows } from "./watch.ts";

interface Row {
  readonly id: string;
  readonly state: string;
  readonly ageS: number;
}

/** A clock on which no wait takes time. */
const atOnce: Clock = { nowMs: () => 0, monotonicMs: () => 0, sleep: () => Promise.resolve() };

/** Watches lists that follow one another until the last one, and gives back what was printed. */
async function watched(lists: readonly (readonly Row[])[], format: "table" | "json", isTerminal: boolean) {
  let printed = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    printed += String(chunk);
    return true;
  });
  const talk = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
  const stop = new AbortController();
  const left = [...lists];
  const code = await watchRows<Row>({
    format,
    clock: atOnce,
    signal: stop.signal,
    screen: () => (isTerminal ? { columns: 40, rows: 10 } : null),
    fetch: async () => {
      const next = left.shift() ?? [];
      if (left.length === 0) stop.abort();
      return next;
    },
    name: (row) => row.id,
    empty: "none",
    columns: [
      { head: "ID", cell: (row) => row.id },
      { head: "STATE", cell: (row) => row.state },
      { head: "AGE", cell: (row) => `${row.ageS}s`, passing: true },
    ],
  });
  write.mockRestore();
  talk.mockRestore();
  return { code, printed };
}

const a = { id: "a", state: "loading", ageS: 1 };
const lists = [[a], [{ ...a, ageS: 2 }], [{ ...a, state: "serving", ageS: 3 }]];

test("what is piped has each row again when something of it changed, and time alone is no change", async () => {
  const { code, printed } = await watched(lists, "table", false);
  expect(
    printed
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/\s+/).join(" ")),
  ).toEqual(["ID STATE AGE", "a loading 1s", "a serving 3s"]);
  expect(code).toBe(130);
});

test("as JSON it is an object a line", async () => {
  const { printed } = await watched([[a], [a]], "json", false);
  expect(printed).toBe(`${JSON.stringify(a)}\n`);
});

test("a terminal is painted anew each time", async () => {
  const { printed } = await watched(lists, "table", true);
  expect(printed.split("\u001b[2J\u001b[H")).toHaveLength(4);
});
