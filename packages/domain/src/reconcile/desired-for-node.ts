import type { Replica, ReplicaPhase } from "../cluster/replica.ts";
import type { Shard } from "../cluster/shard.ts";
import type { ClusterSnapshot } from "../cluster/snapshot.ts";

export interface DesiredShard {
  readonly replica: Replica;
  readonly shard: Shard;
  /** While it drains: count the engine's idle reads from this version on; else null. */
  readonly quietSinceVersion: number | null;
}

export interface ShardKey {
  readonly replicaId: string;
  readonly generation: number;
  readonly rank: number;
}

export interface NodeDesire {
  readonly run: readonly DesiredShard[];
  readonly stop: readonly ShardKey[];
}

const running: ReadonlySet<ReplicaPhase> = new Set(["starting", "serving", "moving", "draining"]);

/**
 * What an agent is to run and to stop. It runs the shards of each replica's present generation that were not ordered to
 * stop. It stops those that were, and whatever it reports of a replica we know that is not to run: an older generation,
 * a shard that was released. What belongs to neither list runs on: it may be an orphan, which only an operator ends.
 *
 * An agent confirms a stop with an `exited` observation, for a shard that it does not have too: only that releases it.
 */
export function desiredForNode(snapshot: ClusterSnapshot, nodeId: string): NodeDesire {
  const run: DesiredShard[] = [];
  const stop: ShardKey[] = [];
  const known = new Set<string>();
  const replicas = new Map(snapshot.replicas.map((replica) => [replica.id, replica]));
  for (const replica of snapshot.replicas) {
    for (const shard of replica.shards) {
      if (shard.nodeId !== nodeId || shard.releasedAtMs !== null) continue;
      known.add(keyOf(shard));
      if (shard.stopRequestedAtMs !== null) stop.push(toKey(shard));
      else if (shard.generation === replica.generation && running.has(replica.phase)) {
        const quietSinceVersion = replica.phase === "draining" ? replica.stateVersion : null;
        run.push({ replica, shard, quietSinceVersion });
      }
    }
  }
  for (const seen of snapshot.nodes.find((node) => node.id === nodeId)?.observations ?? []) {
    const replica = replicas.get(seen.replicaId);
    // A generation above ours is of a newer database than this one: not ours to stop.
    if (replica === undefined || known.has(keyOf(seen)) || seen.generation > replica.generation) continue;
    if (seen.phase !== "exited") stop.push(toKey(seen));
  }
  return { run, stop };
}

function keyOf({ replicaId, generation, rank }: ShardKey): string {
  return `${replicaId}/${generation}/${rank}`;
}

function toKey({ replicaId, generation, rank }: ShardKey): ShardKey {
  return { replicaId, generation, rank };
}
