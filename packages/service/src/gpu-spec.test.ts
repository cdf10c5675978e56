import { expect, test } from "vitest";
import { parseGpuSpec } from "./gpu-spec.ts";

test("a number of simulated GPUs with a size, a file, or what the machine has; nothing else", () => {
  expect(parseGpuSpec("auto")).toEqual({ kind: "auto" });
  expect(parseGpuSpec("sim:2x80GiB")).toEqual({ kind: "simulated", count: 2, totalMib: 81_920 });
  expect(parseGpuSpec("sim:./gpus.json")).toEqual({ kind: "simulated-file", path: "./gpus.json" });
  for (const text of ["sim:2x", "sim:2", "2x80GiB", "sim:2x0GiB", "sim:x80GiB", ""])
    expect(parseGpuSpec(text)).toBeUndefined();
});
