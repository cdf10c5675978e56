import type { Gpu } from "@llmgw/domain";
import { type Database, toJson } from "./database.ts";
import { toGpu } from "./read-nodes.ts";

/** A GPU of the inventory with the node that has it, and how long that node has been silent. */
export interface GpuHolder {
  readonly uuid: string;
  readonly nodeId: string;
  readonly nodeName: string;
  readonly silentMs: number;
}

/** The inventory of one node. */
export async function readGpus(database: Database, nodeId: string): Promise<Gpu[]> {
  const rows = await database.gpu.findMany({ where: { nodeId }, orderBy: { index: "asc" } });
  return rows.map(toGpu);
}

/** Which nodes have these GPUs. */
export async function findGpuHolders(database: Database, uuids: readonly string[]): Promise<GpuHolder[]> {
  const rows = await database.$queryRaw<{ uuid: string; node_id: string; name: string; silent_ms: number | null }[]>`
    SELECT g.uuid, g.node_id, n.name,
           (extract(epoch FROM now() - n.last_seen_at) * 1000)::float8 AS silent_ms
    FROM gpu g JOIN node n ON n.id = g.node_id WHERE g.uuid = ANY(${[...uuids]})`;
  return rows.map((row) => ({
    uuid: row.uuid,
    nodeId: row.node_id,
    nodeName: row.name,
    silentMs: row.silent_ms ?? Number.POSITIVE_INFINITY,
  }));
}

/**
 * Writes GPUs as they are given, all in one statement. A UUID that another node had moves to its new one. A missing
 * one that an operator has accepted as gone does not come back.
 */
export async function saveGpus(database: Database, gpus: readonly Gpu[]): Promise<void> {
  if (gpus.length === 0) return;
  const data = gpus.map(({ nodeId, previousIndex, missingSinceMs, health, ...facts }) => ({
    uuid: facts.uuid,
    node_id: nodeId,
    index: facts.index,
    previous_index: previousIndex,
    facts: toJson(facts),
    health,
    missing_since: missingSinceMs === null ? null : new Date(missingSinceMs).toISOString(),
  }));
  await database.$executeRaw`
    INSERT INTO gpu (uuid, node_id, index, previous_index, facts, health, missing_since)
    SELECT uuid, node_id, index, previous_index, facts, health, missing_since
    FROM jsonb_to_recordset(${JSON.stringify(data)}::jsonb) AS v(
      uuid text, node_id text, index int, previous_index int, facts jsonb, health jsonb, missing_since timestamptz)
    WHERE missing_since IS NULL OR EXISTS (SELECT 1 FROM gpu g WHERE g.uuid = v.uuid)
    ORDER BY uuid
    ON CONFLICT (uuid) DO UPDATE SET node_id = excluded.node_id, index = excluded.index,
      previous_index = excluded.previous_index, facts = excluded.facts, health = excluded.health,
      missing_since = excluded.missing_since`;
}
