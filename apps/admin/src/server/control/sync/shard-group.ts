import { createHash } from "node:crypto";
import type { ClusterSnapshot, Shard } from "@llmgw/domain";
import type { ShardLaunch } from "@llmgw/wire";

/** Below Linux's ephemeral ports (32768 and up) and above the agents' own range for HTTP. */
const firstPort = 19_000;
/** Ten ports in a row for each generation: SGLang binds several beside its rendezvous port. */
const portsEach = 10;
const slots = 100;

/**
 * The processes of the replica that a shard belongs to, by rank; null when it is the only one. The ports follow from
 * replica and generation alone, so every admin names the same; one that is taken fails that start, and the next
 * generation has others.
 */
export function shardGroup(snapshot: ClusterSnapshot, { replicaId, generation }: Shard): ShardLaunch["group"] {
  const replica = snapshot.replicas.find(({ id }) => id === replicaId);
  const shards = replica?.shards.filter((shard) => shard.generation === generation) ?? [];
  if (shards.length < 2) return null;
  const addresses = new Map(snapshot.nodes.map(({ id, address }) => [id, address]));
  const digest = createHash("sha256").update(`${replicaId} ${generation}`).digest();
  const port = firstPort + (digest.readUInt32BE(0) % slots) * portsEach;
  const ranks = shards
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ nodeId, rank }) => ({ address: addresses.get(nodeId) ?? "", port: port + (rank % portsEach) }));
  return { ranks };
}
