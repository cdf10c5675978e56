import { expect, test } from "vitest";
import { maxConcurrentOf } from "./max-concurrent.ts";

test.each([
  ["vllm", ["--max-num-seqs", "64"], 64],
  ["vllm", ["--max-num-seqs=8", "--max-num-seqs", "16"], 16],
  ["sglang", ["--tp-size", "2", "--max-running-requests", "48"], 48],
  ["llamacpp", ["-np", "4"], 4],
  ["llamacpp", ["-np", "-1"], null],
  ["vllm", ["--max-running-requests", "48"], null],
  ["external", ["--max-num-seqs", "64"], null],
] as const)("%s with %j runs %s requests at once", (name, args, expected) => {
  expect(maxConcurrentOf({ name, args })).toBe(expected);
});
