import { describe, expect, test } from "vitest";
import { gpuRange, phaseState } from "./replica-state.ts";

describe("how a replica is said in a few words", () => {
  test.each([
    [[0, 1, 2, 3], "GPU 0–3"],
    [[3, 1], "GPU 1, 3"],
    [[7, 4, 5], "GPU 4–5, 7"],
    [[2], "GPU 2"],
    [[], "0 GPUs"],
  ])("the indexes %j read as %s", (indexes, words) => {
    expect(gpuRange(indexes)).toBe(words);
  });

  test("an index that is not known is counted, not guessed", () => {
    expect(gpuRange([0, null])).toBe("2 GPUs");
  });

  test("a phase that this page does not know is shown by its own name", () => {
    expect(phaseState("hibernating")).toEqual({ state: "unknown", word: "hibernating" });
    expect(phaseState("starting", 0.427)).toEqual({ state: "starting", word: "Loading 43 %" });
  });
});
