import { describe, expect, it } from "vitest";
import { aNode, testNowMs as nowMs } from "../testing/index.ts";
import { nodeLiveness } from "./liveness.ts";
import { defaultControlSettings as settings } from "./snapshot.ts";

const hourAgoMs = nowMs - 3_600_000;
const livenessAfter = (silentMs: number, controlSinceMs = hourAgoMs) =>
  nodeLiveness(aNode({ lastSeenAtMs: nowMs - silentMs }), { nowMs, controlSinceMs, settings });

describe("liveness of a node", () => {
  it.each([
    [0, "live"],
    [14_999, "live"],
    [15_000, "suspect"],
    [59_999, "suspect"],
    [60_000, "lost"],
  ] as const)("after %i ms of silence is %s", (silentMs, expected) => {
    expect(livenessAfter(silentMs)).toBe(expected);
  });

  it("gives nobody up before a full timeout since this admin took the loop, however old the last word is", () => {
    expect(livenessAfter(300_000, nowMs)).toBe("live");
    expect(livenessAfter(300_000, nowMs - 15_000)).toBe("suspect");
    expect(livenessAfter(300_000, nowMs - 59_999)).toBe("suspect");
    expect(livenessAfter(300_000, nowMs - 60_000)).toBe("lost");
  });

  it("of a node that has registered and never reported is suspect, then lost", () => {
    const at = { nowMs, controlSinceMs: hourAgoMs, settings };
    expect(nodeLiveness(aNode({ lastSeenAtMs: null, registeredAtMs: nowMs - 1_000 }), at)).toBe("suspect");
    expect(nodeLiveness(aNode({ lastSeenAtMs: null, registeredAtMs: nowMs - 60_000 }), at)).toBe("lost");
  });
});
