import type { AuditVerification } from "../views/access.ts";

/** What each problem of the chain means, for a person. */
const problemWords = {
  changed: (seq: number) => `row ${seq} is not what was sealed: it or its seal was changed`,
  missing: (seq: number) => `row ${seq} is missing: it was deleted, and not by retention`,
  seal_missing: (seq: number) => `the seal of row ${seq} is missing: it was deleted`,
};

/** What following the hash chain of the audit found, as one sentence. */
export function auditVerdict({ firstSeq, lastSeq, unsealed, prunedAt, problem }: AuditVerification): string {
  const rows = Math.max(0, lastSeq - firstSeq + 1);
  if (problem !== null) {
    return `The audit was tampered with: ${problemWords[problem.kind](problem.seq)}. The ${rows} rows before it, from ${firstSeq} on, are whole.`;
  }
  const pruned = prunedAt === null ? "" : `, older ones pruned by retention at ${prunedAt}`;
  const waiting = unsealed === 0 ? "" : `; the newest ${unsealed} are sealed within seconds`;
  return `The audit is whole: ${rows} rows, ${firstSeq} to ${lastSeq}${pruned}${waiting}.`;
}
