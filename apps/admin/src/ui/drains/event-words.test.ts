import { expect, test } from "vitest";
import { eventWords } from "./event-words.ts";

test("the history of a drain names the step that a move has taken", () => {
  const row = { verb: "drain.step", target: "m1-a", outcome: "ok", reason: null } as const;
  const steps = ["loading", "replacementServing", "draining", "stopping", "stopped"];
  expect(steps.map((step) => eventWords({ ...row, after: { step } }))).toEqual([
    "drain.step m1-a to loading",
    "drain.step m1-a to replacement serving",
    "drain.step m1-a to draining",
    "drain.step m1-a to stopping",
    "drain.step m1-a to stopped",
  ]);
  expect(eventWords({ ...row, after: null })).toBe("drain.step m1-a");
});

test("the history of a drain says how an order came out and why it was given", () => {
  const row = { verb: "nodes.setAvailability", target: "sim-1", reason: "replace PSU 2", after: { step: "x" } };
  expect(eventWords({ ...row, outcome: "ok" })).toBe("nodes.setAvailability sim-1: replace PSU 2");
  expect(eventWords({ ...row, outcome: "failed" })).toBe("nodes.setAvailability sim-1, failed: replace PSU 2");
});
