import { parseSettings } from "@llmgw/service";
import { expect, test } from "vitest";
import { upSettings } from "./settings.ts";

const read = (...argv: string[]) => parseSettings(upSettings, { argv, env: {} });

test("wrong nodes and GPUs are refused before anything starts, in words for a person", () => {
  expect(read("--gpus", "sim:4x24GiB", "--agents", "2")).toMatchObject({ gpus: "sim:4x24GiB", agents: 2 });
  expect(() => read("--gpus", "sim:2x")).toThrow('--gpus is "sim:2x": expected sim:COUNTxSIZE');
  expect(() => read("--gpus", "auto")).toThrow("expected sim:COUNTxSIZE");
  expect(() => read("--agents", "x")).toThrow('--agents is "x": expected a whole number from 0 to 64');
  expect(() => read("--agents", "65")).toThrow("expected a whole number from 0 to 64");
});
