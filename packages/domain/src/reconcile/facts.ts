import { nodeAvailability } from "../cluster/availability.ts";
import type { Drain } from "../cluster/drain.ts";
import { nodeLiveness } from "../cluster/liveness.ts";
import type { Model } from "../cluster/model.ts";
import type { Availability, Liveness, Node } from "../cluster/node.ts";
import type { EndpointReport, Router } from "../cluster/router.ts";
import type { Shard, ShardObservation } from "../cluster/shard.ts";
import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";

export interface NodeFacts {
  readonly node: Node;
  readonly liveness: Liveness;
  readonly availability: Availability;
  readonly silentMs: number;
  /** The drain that makes work leave: the open one, or the one after which the node still counts as drained. */
  readonly drain: Drain | null;
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
  readonly models: ReadonlyMap<string, Model>;
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
  for (const node of snapshot.nodes) {
    const availability = nodeAvailability(node, snapshot.drains);
    nodes.set(node.id, {
      node,
      availability,
      liveness: nodeLiveness(node, clock),
      silentMs: nowMs - (node.lastSeenAtMs ?? node.registeredAtMs),
      drain: drainOf(node, availability, snapshot.drains),
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
    models: new Map(snapshot.models.map((model) => [model.id, model])),
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
    if (drain.nodeId !== node.id) continue;
    if (drain.endedAtMs === null) return drain;
    if (last === null || drain.endedAtMs > (last.endedAtMs ?? 0)) last = drain;
  }
  return last;
}

function routerFacts(router: Router): RouterFacts {
  const words = new Map(router.endpoints.map((word) => [`${word.replicaId} ${word.generation}`, word]));
  return { router, says: (replicaId, generation) => words.get(`${replicaId} ${generation}`) ?? null };
}
