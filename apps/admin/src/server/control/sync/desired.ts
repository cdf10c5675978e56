import {
  type ClusterSnapshot,
  defaultControlSettings,
  desiredForNode,
  endpointTable,
  type Model,
  type ShardObservation,
  specOfRevision,
} from "@llmgw/domain";
import { maxConcurrentOf } from "@llmgw/engines";
import type { AgentSyncAnswer, EndpointTable, KeyEntry, ModelEntry, ShardLaunch } from "@llmgw/wire";
import type { ClusterIdentity } from "../../db/cluster-row.ts";
import { engineKey } from "./engine-key.ts";
import { shardGroup } from "./shard-group.ts";

type Desired = Pick<Extract<AgentSyncAnswer, { kind: "desired" }>, "run" | "stop">;

/** What everybody is to do at one version: read once, given to all who ask. */
export interface DesiredState {
  readonly version: number;
  readonly snapshot: ClusterSnapshot;
  readonly table: EndpointTable;
  /** Replicas that routers may not send to any more and whose in-flight count somebody waits for. */
  readonly draining: ReadonlySet<string>;
  readonly drainIsOpen: boolean;
}

/** Reads the desired state when the version has moved, and keeps the last one it could read. */
export class DesiredStates {
  readonly #read: () => Promise<{ snapshot: ClusterSnapshot; keys: readonly KeyEntry[] }>;
  readonly #cluster: ClusterIdentity;
  #last: DesiredState | null = null;
  #reading: Promise<DesiredState> | null = null;

  constructor(options: {
    readonly read: () => Promise<{ snapshot: ClusterSnapshot; keys: readonly KeyEntry[] }>;
    readonly cluster: ClusterIdentity;
  }) {
    this.#read = options.read;
    this.#cluster = options.cluster;
  }

  /** The state read last, whatever its version; null before the first. */
  get last(): DesiredState | null {
    return this.#last;
  }

  /** The state at `version` or a later one, as the database has it. Everybody who asks meanwhile shares one read. */
  async at(version: number): Promise<DesiredState> {
    if (this.#last !== null && this.#last.version >= version) return this.#last;
    const shared = await this.#sharedRead();
    // The shared read may have begun before `version` was committed; one that begins now cannot.
    return shared.version >= version ? shared : await this.#sharedRead();
  }

  #sharedRead(): Promise<DesiredState> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readNow(): Promise<DesiredState> {
    const { snapshot, keys } = await this.#read();
    const table = buildTable(snapshot, keys, this.#cluster);
    this.#last = {
      version: snapshot.version,
      snapshot,
      table,
      draining: new Set(snapshot.replicas.filter((one) => one.phase === "draining").map((one) => one.id)),
      drainIsOpen: snapshot.drains.some((drain) => drain.endedAtMs === null),
    };
    return this.#last;
  }
}

/** What one agent is to run and to stop, given what it has just reported. */
export function desiredOfNode(
  state: DesiredState,
  node: { readonly nodeId: string; readonly shards: readonly ShardObservation[] },
  context: { readonly cluster: ClusterIdentity; readonly killAfterMs: number },
): Desired {
  const { snapshot } = state;
  const seen = snapshot.nodes.map((one) => (one.id === node.nodeId ? { ...one, observations: node.shards } : one));
  const desire = desiredForNode({ ...snapshot, nodes: seen }, node.nodeId);
  const models = new Map(snapshot.models.map((model) => [model.id, model]));
  return {
    run: desire.run.flatMap(({ replica, shard, quietSinceVersion }): ShardLaunch[] => {
      const model = models.get(replica.modelId);
      if (model === undefined) return [];
      const spec = specOfRevision(model, replica.modelRevision);
      const group = shardGroup(snapshot, shard);
      return [
        {
          replicaId: shard.replicaId,
          generation: shard.generation,
          rank: shard.rank,
          modelId: model.id,
          aliases: [...spec.aliases],
          engine: { name: spec.engine.name, args: [...spec.engine.args], env: { ...spec.engine.env } },
          source: spec.source.kind === "external" ? { ...spec.source, urls: [...spec.source.urls] } : spec.source,
          gpuUuids: [...shard.gpuUuids],
          memoryMibPerGpu: shard.memoryMibPerGpu,
          contextTokens: spec.resources.contextTokens,
          tp: spec.resources.tp,
          // Each machine of a replica holds one stage of the pipeline.
          pp: group?.ranks.length ?? 1,
          group,
          load: spec.load,
          apiKey: engineKey(context.cluster.secret, shard.replicaId, shard.generation),
          quietSinceVersion,
        },
      ];
    }),
    stop: desire.stop.map((key) => ({ ...key, killAfterMs: context.killAfterMs })),
  };
}

function buildTable(snapshot: ClusterSnapshot, keys: readonly KeyEntry[], cluster: ClusterIdentity): EndpointTable {
  const endpoints = endpointTable(snapshot);
  const live = snapshot.models.filter((model) => model.deletedAtMs === null);
  return {
    clusterId: cluster.id,
    version: snapshot.version,
    models: live.map((model): ModelEntry => {
      const { spec } = model;
      return {
        id: model.id,
        aliases: [...spec.aliases],
        policy: spec.routing.policy,
        timeouts: { ...spec.routing.timeouts },
        usageInjection: spec.routing.usageInjection === true,
        endpoints: endpoints
          .filter((one) => one.modelId === model.id)
          .map((one) => toEndpoint(one, model, engineKey(cluster.secret, one.replicaId, one.generation))),
      };
    }),
    keys: [...keys],
    routers: liveRouterCount(snapshot),
  };
}

/** Routers that share the keys' limits; at least the one that asks. */
function liveRouterCount({ routers, nowMs }: ClusterSnapshot): number {
  const { routerLeaseMs } = defaultControlSettings;
  const live = routers.filter(
    ({ leftAtMs, lastSeenAtMs }) => leftAtMs === null && nowMs - lastSeenAtMs <= routerLeaseMs,
  );
  return Math.max(1, live.length);
}

function toEndpoint(
  endpoint: ReturnType<typeof endpointTable>[number],
  { spec }: Model,
  apiKey: string,
): ModelEntry["endpoints"][number] {
  return {
    replica: endpoint.replicaId,
    generation: endpoint.generation,
    url: endpoint.url,
    metricsUrl: null,
    pool: spec.pool ?? "none",
    engine: spec.engine.name,
    state: endpoint.state,
    maxInflight: spec.routing.maxInflight,
    maxConcurrent: maxConcurrentOf(spec.engine),
    apiKey,
  };
}
