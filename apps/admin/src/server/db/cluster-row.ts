import { newId, newSecret } from "@llmgw/service";
import type { Database } from "./database.ts";

/** This cluster: who it is, and the secret that engine keys are derived from. */
export interface ClusterIdentity {
  readonly id: string;
  readonly secret: string;
}

/**
 * Makes the one cluster row of a fresh database, and answers the identity that is there. Versions start at 1: 0 is what
 * an agent or a router has that never got an answer.
 */
export async function ensureCluster(database: Database): Promise<ClusterIdentity> {
  await database.$executeRaw`
    INSERT INTO cluster (id, one, secret, version) VALUES (${newId("cluster")}, 1, ${newSecret("")}, 1)
    ON CONFLICT (one) DO NOTHING`;
  const row = await database.cluster.findUniqueOrThrow({ where: { one: 1 }, select: { id: true, secret: true } });
  return row;
}

/** The cluster's counters: its version, and the highest one any agent or router said it had applied. */
export interface Versions {
  readonly version: number;
  readonly reported: number;
}

export async function readVersions(database: Database): Promise<Versions> {
  const row = await database.cluster.findUniqueOrThrow({
    where: { one: 1 },
    select: { version: true, reported: true },
  });
  return { version: Number(row.version), reported: Number(row.reported) };
}

/** Remembers that somebody runs a newer version than this database has: every admin then holds. */
export async function rememberReported(database: Database, version: number): Promise<void> {
  await database.$executeRaw`
    UPDATE cluster SET reported = greatest(reported, ${BigInt(version)}) WHERE one = 1`;
}
