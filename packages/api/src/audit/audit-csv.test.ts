import { expect, test } from "vitest";
import { csvHead, csvLine } from "./audit-csv.ts";
import type { AuditRow } from "./audit-row.ts";

const row: AuditRow = {
  ...{ seq: 7, at: "2026-01-02T03:04:05.006Z", actorKind: "user", actor: "=cmd()", role: "admin", source: null },
  ...{ verb: "models.scale", target: "a,b", before: { replicas: 1 }, after: null, reason: 'said "now"\nand left' },
  ...{ outcome: "ok", requestId: null, cause: null },
};

test("a row is one record of as many cells as the head, quoted where needed, and no cell is a formula", () => {
  expect(csvHead.split(",")).toHaveLength(14);
  expect(csvLine(row)).toBe(
    `7,2026-01-02T03:04:05.006Z,user,'=cmd(),admin,,models.scale,"a,b",ok,"said ""now""\nand left",,,"{""replicas"":1}",\r\n`,
  );
});
