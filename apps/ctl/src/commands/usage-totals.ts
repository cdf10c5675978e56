import type { UsageView } from "@llmgw/api";

/** Sums hours up by key and model, what completed most tokens first. `hour` is the first one. */
export function usageTotals(rows: readonly UsageView[]): UsageView[] {
  const totals = new Map<string, UsageView>();
  for (const row of rows) {
    const name = JSON.stringify([row.keyId, row.model]);
    const known = totals.get(name);
    totals.set(name, known === undefined ? row : added(known, row));
  }
  return [...totals.values()].sort((a, b) => b.completionTokens - a.completionTokens);
}

function added(total: UsageView, row: UsageView): UsageView {
  return {
    ...total,
    requests: total.requests + row.requests,
    estimatedRequests: total.estimatedRequests + row.estimatedRequests,
    promptTokens: total.promptTokens + row.promptTokens,
    completionTokens: total.completionTokens + row.completionTokens,
    cachedTokens: total.cachedTokens + row.cachedTokens,
  };
}
