import type { UsageRow } from "@llmgw/wire";

/** What one request used. */
export interface UsageRecord {
  /** When it ended, milliseconds since the epoch. */
  readonly atMs: number;
  readonly keyId: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  /** The engine did not tell: the completion's tokens are content events counted here. */
  readonly isEstimated: boolean;
}

const HOUR_MS = 3_600_000;

/** One line of the journal: a JSON list, short since there is one for each request. */
export function writeRecord(record: UsageRecord): string {
  const { atMs, keyId, model, promptTokens, completionTokens, cachedTokens, isEstimated } = record;
  const list = [atMs, keyId, model, promptTokens, completionTokens, cachedTokens, isEstimated ? 1 : 0];
  return `${JSON.stringify(list)}\n`;
}

/** The records of a journal's text. A line that was cut by a crash is no record: its request had not ended. */
export function readRecords(text: string): readonly UsageRecord[] {
  return text.split("\n").flatMap((line) => readRecord(line) ?? []);
}

function readRecord(line: string): UsageRecord | null {
  let list: unknown;
  try {
    list = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(list)) return null;
  const [atMs, keyId, model, promptTokens, completionTokens, cachedTokens, estimated]: unknown[] = list;
  if (typeof keyId !== "string" || typeof model !== "string") return null;
  if (!isCount(atMs) || !isCount(promptTokens) || !isCount(completionTokens) || !isCount(cachedTokens)) return null;
  return { atMs, keyId, model, promptTokens, completionTokens, cachedTokens, isEstimated: estimated === 1 };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Sums records up by hour, key and model. */
export function aggregate(records: readonly UsageRecord[]): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const { atMs, keyId, model, promptTokens, completionTokens, cachedTokens, isEstimated } of records) {
    const hour = new Date(Math.floor(atMs / HOUR_MS) * HOUR_MS).toISOString();
    const name = JSON.stringify([hour, keyId, model]);
    const row = rows.get(name) ?? {
      hour,
      keyId,
      model,
      requests: 0,
      estimatedRequests: 0,
      promptTokens: 0,
      completionTokens: 0,
      cachedTokens: 0,
    };
    rows.set(name, {
      ...row,
      requests: row.requests + 1,
      estimatedRequests: row.estimatedRequests + (isEstimated ? 1 : 0),
      promptTokens: row.promptTokens + promptTokens,
      completionTokens: row.completionTokens + completionTokens,
      cachedTokens: row.cachedTokens + cachedTokens,
    });
  }
  return [...rows.values()];
}
