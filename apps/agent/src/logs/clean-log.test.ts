import { describe, expect, it } from "vitest";
import { cleanLines } from "./clean-log.ts";

describe("cleanLines", () => {
  it("removes ANSI codes", () => {
    expect(cleanLines("\u001b[36m(EngineCore pid=81)\u001b[0;0m ready\n")).toEqual(["(EngineCore pid=81) ready"]);
  });

  it("keeps only the last state of a progress bar, whether it is redrawn by carriage return or by line", () => {
    const redrawn = "Loading:   0%|   | 0/4\rLoading:  50%|█  | 2/4\rLoading: 100%|███| 4/4\n";
    expect(cleanLines(redrawn)).toEqual(["Loading: 100%|███| 4/4"]);
    expect(cleanLines("a\nLoading:  50%|█  | 2/4\nLoading: 100%|███| 4/4\nb")).toEqual([
      "a",
      "Loading: 100%|███| 4/4",
      "b",
    ]);
  });

  it("keeps progress bars of different things apart", () => {
    expect(cleanLines("A: 1%| | 1\nB: 2%| | 2\n")).toHaveLength(2);
  });

  it("cuts huge lines and says by how much", () => {
    const [line] = cleanLines("x".repeat(10_000));
    expect(line).toHaveLength(2_000 + "… (8000 more)".length);
  });

  it("survives invalid UTF-8 and control characters", () => {
    const text = Buffer.from([0x61, 0xff, 0xfe, 0x00, 0x62, 0x0a]).toString("utf8");
    expect(cleanLines(text)).toEqual(["a\uFFFD\uFFFDb"]);
  });
});
