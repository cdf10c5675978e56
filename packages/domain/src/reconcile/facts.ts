import { isEmptied, nodeAvailability } from "../cluster/availability.ts";
import { type Drain, drainScope } from "../cluster/drain.ts";
import type { Gpu } from "../cluster/gpu.ts";
import { type MassSilence, massSilence, nodeLiveness } from "../cluster/liveness.ts";
import { type Model, startedModel } from "../cluster/model.ts";
import type { Availability, Liveness, Node } from "../cluster/node.ts";
import type { EndpointReport, Router } from "../cluster/router.ts";
import type { Shard, ShardObservation } from "../cluster/shard.ts";
import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";

export interface NodeFacts {
  readonly node: Node;
  /** Never `lost` while the silence is taken for ours (`massSilence`). */
  readonly liveness: Liveness;
  readonly availability: Availability;
  readonly silentMs: number;
  /** The drain that makes work leave: the open one, or the one after which the node still counts as drained. */
  readonly drain: Drain | null;
  /** GPUs whose health says that what runs on them has to move. */
  readonly evicting: readonly Gpu[];
}

interface RouterFacts {
  readonly router: Router;
  /** Its word on one generation of a replica, null where it has none. */
  readonly says: (replicaId: string, generation: number) => EndpointReport | null;
}

/** What is derived from a snapshot once and looked up by every step. Nothing of it changes within a pass. */
export interface Facts {
  readonly nowMs: number;
  readonly settings: ControlSettings;
  readonly nodes: ReadonlyMap<string, NodeFacts>;
  /** As replicas are started now: while a rollout is paused as failed, at the revision that it came from. */
  readonly models: ReadonlyMap<string, Model>;
  /** Drains that make what runs on one GPU leave, by UUID: the open one, or one whose cordon still stands. */
  readonly gpuDrains: ReadonlyMap<string, Drain>;
  /** Open drains of single replicas, by replica. */
  readonly replicaDrains: ReadonlyMap<string, Drain>;
  readonly massSilence: MassSilence | null;
  /** Routers whose lease runs; right after an admin took the loop, all that it can remember. */
  readonly liveRouters: readonly RouterFacts[];
  /** Routers whose lease ran out lately: dead, or cut off and still sending; nobody can tell. */
  readonly silentRouters: readonly Router[];
  readonly observation: (shard: Shard) => ShardObservation | null;
}

export function readFacts(snapshot: ClusterSnapshot, settings: ControlSettings): Facts {
  const { nowMs } = snapshot;
  const clock = { nowMs, controlSinceMs: snapshot.controlSinceMs, settings };
  const nodes = new Map<string, NodeFacts>();
  const observations = new Map<string, ShardObservation>();
  const silence = massSilence(snapshot, settings);
  for (const node of snapshot.nodes) {
    const availability = nodeAvailability(node, snapshot.drains);
    nodes.set(node.id, {
      node,
      availability,
      liveness: silence?.nodeIds.has(node.id) === true ? "suspect" : nodeLiveness(node, clock),
      silentMs: nowMs - (node.lastSeenAtMs ?? node.registeredAtMs),
      drain: drainOf(node, availability, snapshot.drains),
      evicting: node.gpus.filter((gpu) => gpu.health.evict === "move"),
    });
    for (const seen of node.observations) {
      observations.set(`${node.id} ${seen.replicaId} ${seen.generation} ${seen.rank}`, seen);
    }
  }
  const remembersRouters = nowMs - snapshot.controlSinceMs < settings.routerLeaseMs;
  const present = snapshot.routers.filter((router) => router.leftAtMs === null);
  const leaseMs = remembersRouters ? settings.routerRememberedMs : settings.routerLeaseMs;
  const isLive = (router: Router): boolean => nowMs - router.lastSeenAtMs <= leaseMs;
  return {
    nowMs,
    settings,
    nodes,
    models: new Map(snapshot.models.map((model) => [model.id, startedModel(model)])),
    gpuDrains: gpuDrains(snapshot),
    replicaDrains: new Map(
      snapshot.drains.flatMap((drain) =>
        drain.replica === null || drain.endedAtMs !== null ? [] : [[drain.replica.id, drain] as const],
      ),
    ),
    massSilence: silence,
    liveRouters: present.filter(isLive).map(routerFacts),
    silentRouters: present.filter(
      (router) =>
        !isLive(router) && nowMs - router.lastSeenAtMs - settings.routerLeaseMs < settings.routerMayStillSendMs,
    ),
    observation: (shard) =>
      observations.get(`${shard.nodeId} ${shard.replicaId} ${shard.generation} ${shard.rank}`) ?? null,
  };
}

/** A node's name for sentences, its id where it is not in the snapshot. */
export function nodeName(facts: Facts, nodeId: string): string {
  return facts.nodes.get(nodeId)?.node.name ?? nodeId;
}

function drainOf(node: Node, availability: Availability, drains: readonly Drain[]): Drain | null {
  if (availability !== "draining" && availability !== "drained") return null;
  let last: Drain | null = null;
  for (const drain of drains) {
    if (drain.nodeId !== node.id || drainScope(drain) !== "node") continue;
    if (drain.endedAtMs === null) return drain;
    if (last === null || drain.endedAtMs > (last.endedAtMs ?? 0)) last = drain;
  }
  return last;
}

function gpuDrains(snapshot: ClusterSnapshot): ReadonlyMap<string, Drain> {
  const standing = new Set(
    snapshot.nodes.flatMap((node) => node.cordons.flatMap(({ drainId }) => (drainId === null ? [] : [drainId]))),
  );
  const found = new Map<string, Drain>();
  for (const drain of snapshot.drains) {
    if (drainScope(drain) !== "gpu" || drain.gpuUuid === null) continue;
    if (drain.endedAtMs === null) found.set(drain.gpuUuid, drain);
    else if (standing.has(drain.id) && isEmptied(drain.result) && !found.has(drain.gpuUuid)) {
      found.set(drain.gpuUuid, drain);
    }
  }
  return found;
}

function routerFacts(router: Router): RouterFacts {
  const words = new Map(router.endpoints.map((word) => [`${word.replicaId} ${word.generation}`, word]));
  return { router, says: (replicaId, generation) => words.get(`${replicaId} ${generation}`) ?? null };
}
