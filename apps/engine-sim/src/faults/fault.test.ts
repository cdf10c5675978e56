import { describe, expect, it } from "vitest";
import { formatFault, parseFault } from "./fault.ts";

describe("faults", () => {
  it.each([
    ["crash-at-start", "crash-at-start:1:gpu-oom"],
    ["crash-at-start:137:gpu-lost", "crash-at-start:137:gpu-lost"],
    ["crash-after-requests:3", "crash-after-requests:3"],
    ["crash-mid-stream:20", "crash-mid-stream:20"],
    ["reset-mid-stream:2", "reset-mid-stream:2"],
    ["hang", "hang"],
    ["slow-load:10x", "slow-load:10x"],
    ["slow-load:1.5", "slow-load:1.5x"],
    ["stall-load", "stall-load"],
    ["ignore-sigterm", "ignore-sigterm"],
    ["ignore-sigterm:500", "ignore-sigterm:500"],
    ["status:429", "status:429:every:1"],
    ["status:503:every:5", "status:503:every:5"],
    ["slow-health:100", "slow-health:100"],
    ["health-status:503", "health-status:503"],
    ["metrics:empty", "metrics:empty"],
  ])("reads %s", (text, written) => {
    const parsed = parseFault(text);
    expect(parsed.kind === "fault" && formatFault(parsed.fault)).toBe(written);
  });

  it.each([
    "",
    "explode",
    "hang:1",
    "status",
    "status:99",
    "status:503:each:5",
    "status:503:every:0",
    "crash-mid-stream",
    "crash-at-start:999",
    "crash-at-start:1:other",
    "slow-load:0.5x",
    "metrics:odd",
  ])("refuses '%s' and says what may be written", (text) => {
    expect(parseFault(text)).toMatchObject({ kind: "invalid", message: expect.stringContaining("write one of") });
  });
});
