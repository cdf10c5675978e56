import { expect, test } from "vitest";
import { chosenEntries, type Entry } from "./entries.ts";

const entry = (group: Entry["group"], label: string, note = ""): Entry => ({
  ...{ id: `${group} ${label}`, group, label, note },
  command: { kind: "go", href: "/" },
});

const entries = [
  ...[entry("Pages", "Nodes"), entry("Pages", "Audit")],
  ...Array.from({ length: 200 }, (_, index) => entry("Nodes", `gpu-${index}`)),
  ...[entry("Models", "my-gpu-1-model"), entry("Actions", "Drain… gpu-199"), entry("Actions", "Cordon… gpu-199")],
];

const labels = (typed: string) => chosenEntries(entries, typed).map(({ label }) => label);

test("with nothing typed the pages are offered, and no action", () => {
  expect(labels("")).toEqual(["Nodes", "Audit"]);
});

test("a name that begins with what was typed comes before one that only has it, a few of each kind", () => {
  expect(labels("gpu-1")).toEqual([
    "gpu-1",
    "gpu-10",
    "gpu-11",
    "gpu-12",
    "gpu-13",
    "gpu-14",
    "my-gpu-1-model",
    "Drain… gpu-199",
    "Cordon… gpu-199",
  ]);
});

test("a verb and a part of a name find the action", () => {
  expect(labels("drain 199")).toEqual(["Drain… gpu-199"]);
  expect(labels("199 cord")).toEqual(["Cordon… gpu-199"]);
});
