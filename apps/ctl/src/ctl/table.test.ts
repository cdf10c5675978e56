import { expect, test } from "vitest";
import { cut, table, widthOf } from "./table.ts";

const columns = [
  { head: "NODE", cell: (row: readonly string[]) => row[0] ?? "" },
  { head: "TARGET", cell: (row: readonly string[]) => row[1] ?? "" },
  { head: "WHY", cell: (row: readonly string[]) => row[2] ?? "", narrow: "wrap" as const },
];
const rows = [
  ["sim-1", "model/a-rather-long-name", "needs 40 GiB free, found 12 GiB of 80 GiB on each of two GPUs"],
  ["a-name-to-copy", "x", "ok"],
];

test("a table that fits is as wide as its cells, and so is one that is piped", () => {
  expect(table(rows, columns)).toContain("model/a-rather-long-name  needs 40 GiB free, found 12 GiB of 80 GiB");
  expect(table(rows.slice(1), columns, 80)).toBe("NODE            TARGET  WHY\na-name-to-copy  x       ok");
});

test("on a narrower terminal the wide columns are wrapped or cut, and names stay whole", () => {
  expect(table(rows, columns, 50)).toBe(
    [
      "NODE            TARGET            WHY",
      "sim-1           model/a-rather-…  needs 40 GiB",
      "                                  free, found 12",
      "                                  GiB of 80 GiB on",
      "                                  each of two GPUs",
      "a-name-to-copy  x                 ok",
    ].join("\n"),
  );
});

test("colours take no room, and wide characters take two columns", () => {
  expect(widthOf("\u001b[32mlive\u001b[39m")).toBe(4);
  expect(widthOf("节点")).toBe(4);
  expect(cut("节点节点", 5)).toBe("节点…");
});
