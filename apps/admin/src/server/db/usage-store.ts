import type { UsageReport, UsageRow } from "@llmgw/wire";
import type { Database } from "./database.ts";

/**
 * Adds a batch of usage to its hours, once: each process of a router numbers its batches, and one that is not after the last one
 * taken has been counted before. One transaction, so that a batch is in the hours exactly when the cursor says so.
 */
export async function takeUsage(database: Database, { router, batch }: UsageReport): Promise<void> {
  await database.$transaction(async (tx) => {
    const taken = await tx.$queryRaw<unknown[]>`
      INSERT INTO usage_cursor AS c (router_id, boot, seq) VALUES (${router}, ${batch.boot}, ${BigInt(batch.seq)})
      ON CONFLICT (router_id, boot) DO UPDATE SET seq = excluded.seq, at = now() WHERE c.seq < excluded.seq
      RETURNING seq`;
    if (taken.length === 0 || batch.rows.length === 0) return;
    await tx.$executeRaw`
      INSERT INTO usage_hour AS u (hour, key_id, model, requests, estimated_requests, prompt_tokens, completion_tokens,
        cached_tokens)
      SELECT hour, "keyId", model, requests, "estimatedRequests", "promptTokens", "completionTokens", "cachedTokens"
      FROM jsonb_to_recordset(${JSON.stringify(batch.rows)}::jsonb) AS v(
        hour timestamptz, "keyId" text, model text, requests bigint, "estimatedRequests" bigint, "promptTokens" bigint,
        "completionTokens" bigint, "cachedTokens" bigint)
      ORDER BY hour, "keyId", model
      ON CONFLICT (hour, key_id, model) DO UPDATE SET requests = u.requests + excluded.requests,
        estimated_requests = u.estimated_requests + excluded.estimated_requests,
        prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = u.completion_tokens + excluded.completion_tokens,
        cached_tokens = u.cached_tokens + excluded.cached_tokens`;
  });
}

export interface UsageQuery {
  readonly from: Date;
  readonly to: Date;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
}

/** Usage by hour, oldest first. */
export async function readUsage(database: Database, { from, to, keyId, model }: UsageQuery): Promise<UsageRow[]> {
  const rows = await database.usageHour.findMany({
    where: {
      hour: { gte: from, lt: to },
      ...(keyId === undefined ? {} : { keyId }),
      ...(model === undefined ? {} : { model }),
    },
    orderBy: [{ hour: "asc" }, { keyId: "asc" }, { model: "asc" }],
  });
  return rows.map(({ hour, keyId: key, model: id, ...counts }) => ({
    hour: hour.toISOString(),
    keyId: key,
    model: id,
    requests: Number(counts.requests),
    estimatedRequests: Number(counts.estimatedRequests),
    promptTokens: Number(counts.promptTokens),
    completionTokens: Number(counts.completionTokens),
    cachedTokens: Number(counts.cachedTokens),
  }));
}

/** Forgets hours that began before `before`, and processes of routers that have sent nothing since then. */
export async function pruneUsage(database: Database, before: Date): Promise<number> {
  const { count } = await database.usageHour.deleteMany({ where: { hour: { lt: before } } });
  await database.usageCursor.deleteMany({ where: { at: { lt: before } } });
  return count;
}
