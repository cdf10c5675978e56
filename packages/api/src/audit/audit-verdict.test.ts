import { expect, test } from "vitest";
import { auditVerdict } from "./audit-verdict.ts";

const whole = { firstSeq: 1, lastSeq: 40, unsealed: 0, prunedAt: null, problem: null };

test("an untouched audit is called whole, with what retention and the next seal explain", () => {
  expect(auditVerdict(whole)).toBe("The audit is whole: 40 rows, 1 to 40.");
  expect(auditVerdict({ ...whole, firstSeq: 11, unsealed: 2, prunedAt: "2026-01-02T03:04:05.006Z" })).toBe(
    "The audit is whole: 30 rows, 11 to 40, older ones pruned by retention at 2026-01-02T03:04:05.006Z; the newest 2 are sealed within seconds.",
  );
});

test.each(["changed", "missing", "seal_missing"] as const)(
  "a row that is %s is named, and how far the rest is good",
  (kind) => {
    const words = auditVerdict({ ...whole, lastSeq: 6, problem: { kind, seq: 7 } });
    expect(words).toMatch(/^The audit was tampered with: .*row 7/);
    expect(words).toContain("6 rows before it");
  },
);
