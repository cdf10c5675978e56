import type { AuditRow } from "./audit-row.ts";

const columns = [
  ...(["seq", "at", "actorKind", "actor", "role", "source", "verb", "target", "outcome", "reason"] as const),
  ...(["cause", "requestId", "before", "after"] as const),
] satisfies readonly (keyof AuditRow)[];

export const csvHead = `${columns.join(",")}\r\n`;

/** An audit row as a line of CSV (RFC 4180). A cell that a spreadsheet would take for a formula begins with `'`. */
export function csvLine(row: AuditRow): string {
  return `${columns.map((column) => cell(row[column])).join(",")}\r\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
