import { describe, expect, it } from "vitest";
import { NoProgress } from "./no-progress.ts";

function problemAfter(
  looks: readonly (readonly [atMs: number, running: number, steps: number | null])[],
  nowMs: number,
) {
  const progress = new NoProgress(30_000);
  for (const [atMs, running, steps] of looks) progress.saw({ running, waiting: 0, steps }, atMs);
  return progress.problem(nowMs);
}

describe("an engine that is dead but says it is fine", () => {
  it("is noticed when its requests run and nothing is computed for 30 s", () => {
    const looks = [
      [0, 2, 38],
      [2_000, 2, 38],
      [28_000, 2, 38],
    ] as const;
    expect(problemAfter(looks, 29_999)).toBeNull();
    expect(problemAfter(looks, 30_000)).toContain("no progress for 30s");
  });

  it("is not one that has nothing to do", () => {
    expect(
      problemAfter(
        [
          [0, 0, 38],
          [60_000, 0, 38],
        ],
        60_000,
      ),
    ).toBeNull();
  });

  it("is not one that reads a long prompt or writes slowly", () => {
    expect(
      problemAfter(
        [
          [0, 1, 38],
          [20_000, 1, 38],
          [29_000, 1, 39],
        ],
        40_000,
      ),
    ).toBeNull();
  });

  it("is not one whose counts cannot be read", () => {
    expect(
      problemAfter(
        [
          [0, 1, null],
          [60_000, 1, null],
        ],
        60_000,
      ),
    ).toBeNull();
  });
});
