import type { ClusterSnapshot } from "../cluster/snapshot.ts";

/** A shard that holds a GPU: not confirmed dead, whatever its replica's phase. */
export interface Tenant {
  readonly replicaId: string;
  /** `<replica>/<rank>`, as agents name it in their process lists. */
  readonly shard: string;
  readonly claimMib: number;
  readonly shareGpu: boolean;
}

/** A shard that a plan has decided on and that the snapshot does not know yet. */
export interface AssumedShard {
  readonly replicaId: string;
  readonly modelId: string;
  readonly rank: number;
  readonly nodeId: string;
  readonly gpuUuids: readonly string[];
  readonly memoryMibPerGpu: number;
  readonly shareGpu: boolean;
}

/** What a question takes for granted beyond the snapshot: earlier placements of the same plan, or "if X were gone". */
export interface Assumptions {
  readonly placed?: readonly AssumedShard[];
  /** Replicas that count as gone: none of their shards holds anything. */
  readonly freed?: ReadonlySet<string>;
}

export interface Tenancy {
  readonly byGpu: ReadonlyMap<string, readonly Tenant[]>;
  /** Replicas of each model by node: node id → model id → replica ids. */
  readonly byNode: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;
}

/**
 * Who holds what. Shards that an agent runs and the database does not know (orphans) hold their GPUs alone: nobody can
 * say what they need.
 */
export function tenancyOf(snapshot: ClusterSnapshot, assume: Assumptions = {}): Tenancy {
  const byGpu = new Map<string, Tenant[]>();
  const byNode = new Map<string, Map<string, Set<string>>>();
  const known = new Set<string>();

  const add = (shard: AssumedShard): void => {
    const id = `${shard.replicaId}/${shard.rank}`;
    const tenant = {
      replicaId: shard.replicaId,
      shard: id,
      claimMib: shard.memoryMibPerGpu,
      shareGpu: shard.shareGpu,
    };
    for (const uuid of shard.gpuUuids) push(byGpu, uuid, tenant);
    const models = byNode.get(shard.nodeId) ?? new Map<string, Set<string>>();
    byNode.set(shard.nodeId, models);
    const replicas = models.get(shard.modelId) ?? new Set<string>();
    models.set(shard.modelId, replicas);
    replicas.add(shard.replicaId);
  };

  for (const replica of snapshot.replicas) {
    const freed = assume.freed?.has(replica.id) === true;
    for (const shard of replica.shards) {
      known.add(`${shard.replicaId}/${shard.rank}/${shard.generation}`);
      if (shard.releasedAtMs === null && !freed) add({ ...shard, modelId: replica.modelId });
    }
  }
  for (const shard of assume.placed ?? []) add(shard);
  for (const node of snapshot.nodes) {
    for (const seen of node.observations) {
      if (seen.phase === "exited" || known.has(`${seen.replicaId}/${seen.rank}/${seen.generation}`)) continue;
      if (assume.freed?.has(seen.replicaId) === true) continue;
      const shard = `${seen.replicaId}/${seen.rank}`;
      const tenant = { replicaId: seen.replicaId, shard, claimMib: 0, shareGpu: false };
      for (const uuid of seen.gpuUuids) push(byGpu, uuid, tenant);
    }
  }
  for (const tenants of byGpu.values()) if (tenants.length > 1) tenants.sort(byShard);
  return { byGpu, byNode };
}

const byShard = (a: Tenant, b: Tenant): number => (a.shard < b.shard ? -1 : a.shard > b.shard ? 1 : 0);

function push(map: Map<string, Tenant[]>, uuid: string, tenant: Tenant): void {
  const list = map.get(uuid);
  if (list === undefined) map.set(uuid, [tenant]);
  else list.push(tenant);
}
