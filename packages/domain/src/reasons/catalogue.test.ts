import { describe, expect, it } from "vitest";
import { describeReason, reasonCodes } from "./catalogue.ts";
import { type Reason, reason } from "./reason.ts";
import { english } from "./words-en.ts";
import { chinese } from "./words-zh.ts";

describe("the catalogue of reasons", () => {
  it("has words for the same codes in every language", () => {
    expect(Object.keys(chinese)).toEqual(Object.keys(english));
    expect(reasonCodes.length).toBeGreaterThan(50);
    for (const code of reasonCodes) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  it("says who, what and how much is missing", () => {
    const short = reason("gpu_memory_short", {
      gpu: "b GPU 1",
      freeMib: 59_249,
      needMib: 71_680,
      heldBy: "pid 4242",
    });
    expect(describeReason(short)).toBe("b GPU 1 has 57.8 GiB free, needs 70.0 GiB: 12.2 GiB short, held by pid 4242");
    expect(describeReason(short, "zh-CN")).toBe(
      "b GPU 1 空闲 57.8 GiB，需要 70.0 GiB，还差 12.2 GiB，占用者：pid 4242",
    );
  });

  it("never makes a shortage of one MiB read as a fit", () => {
    const text = describeReason(
      reason("gpu_memory_short", { gpu: "b GPU 1", freeMib: 20_479, needMib: 20_480, heldBy: "" }),
    );
    expect(text).toBe("b GPU 1 has 19.9 GiB free, needs 20.0 GiB: 0.1 GiB short");
  });

  it("tells the nearest candidate in the reader's language", () => {
    const nearestReason = reason("too_few_gpus", { node: "b", found: 1, need: 2 });
    const why: Reason = reason("no_fit", {
      model: "m",
      nodes: 2,
      nearest: describeReason(nearestReason),
      nearestReason,
    });
    expect(describeReason(why)).toBe("no node fits m: 2 considered; nearest: b has 1 GPU, needs 2");
    expect(describeReason(why, "zh-CN")).toBe("没有节点能容纳 m：共考察 2 个节点；最接近的：b 有 1 块 GPU，需要 2 块");
  });
});
