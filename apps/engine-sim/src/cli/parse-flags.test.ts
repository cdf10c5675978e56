import { describe, expect, it } from "vitest";
import { type FlagSpec, parseFlags } from "./parse-flags.ts";

const SPECS: FlagSpec[] = [
  { name: "--port", kind: "int" },
  { name: "--served-model-name", kind: "list" },
  { name: "--tensor-parallel-size", kind: "int", aliases: ["-tp"] },
  { name: "--max-model-len", kind: "human-int" },
  { name: "--gpu-memory-utilization", kind: "float" },
  { name: "--enable-prefix-caching", kind: "toggle" },
  { name: "--headless", kind: "switch" },
  { name: "--dtype", kind: "string", choices: ["auto", "half"] },
  { name: "--compilation-config", kind: "json" },
  { name: "--sim-fail", kind: "repeat" },
];

const parse = (line: string) => parseFlags(line.split(" "), SPECS, 1);

function valuesOf(line: string) {
  const parsed = parse(line);
  return parsed.kind === "parsed" ? Object.fromEntries(parsed.values) : parsed;
}

describe("flags of vllm serve", () => {
  it.each([
    ["--port 80", { "--port": 80 }],
    ["--port=80", { "--port": 80 }],
    ["-tp 2", { "--tensor-parallel-size": 2 }],
    ["--tensor_parallel_size 2", { "--tensor-parallel-size": 2 }],
    ["--served-model-name a b --port 1", { "--served-model-name": ["a", "b"], "--port": 1 }],
    ["--max-model-len 8k", { "--max-model-len": 8000 }],
    ["--max-model-len 8K", { "--max-model-len": 8192 }],
    ["--max-model-len -1", { "--max-model-len": -1 }],
    ["--gpu-memory-utilization .9", { "--gpu-memory-utilization": 0.9 }],
    ["--enable-prefix-caching", { "--enable-prefix-caching": true }],
    ["--no-enable-prefix-caching", { "--enable-prefix-caching": false }],
    ["--compilation-config.mode 3", { "--compilation-config": "3" }],
    ["--sim-fail hang --sim-fail stall-load", { "--sim-fail": ["hang", "stall-load"] }],
  ])("reads %s", (line, values) => {
    expect(valuesOf(line)).toEqual(values);
  });

  it.each([
    ["m --foo bar --port 1 --baz", "unrecognized arguments: --foo bar --baz"],
    ["m extra", "unrecognized arguments: extra"],
    ["--port x", "argument --port: invalid int value: 'x'"],
    ["--port", "argument --port: expected one argument"],
    ["--served-model-name --port 1", "argument --served-model-name: expected at least one argument"],
    ["--tensor-parallel-size 1.5", "argument --tensor-parallel-size/-tp: invalid int value: '1.5'"],
    ["--dtype foo", "argument --dtype: invalid choice: 'foo' (choose from 'auto', 'half')"],
    ["--headless=yes", "argument --headless: ignored explicit argument 'yes'"],
  ])("refuses %s as argparse does", (line, message) => {
    expect(parse(line)).toMatchObject({ kind: "error", message });
  });

  it("keeps the positional argument wherever it stands", () => {
    expect(parse("--headless model --port 1")).toMatchObject({ kind: "parsed", positionals: ["model"] });
  });
});
