import type { ControlSettings, Liveness, MassSilence, Node, Router, ShardObservation } from "@llmgw/domain";
import { massSilence, nodeLiveness } from "@llmgw/domain";
import type { World } from "../../db/world.ts";

/** The world with what every view looks up in it. */
export interface ViewContext {
  readonly world: World;
  readonly settings: ControlSettings;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly liveRouters: readonly Router[];
  readonly silence: MassSilence | null;
}

export function viewContext(world: World, settings: ControlSettings): ViewContext {
  const { snapshot } = world;
  return {
    world,
    settings,
    nodes: new Map(snapshot.nodes.map((node) => [node.id, node])),
    liveRouters: snapshot.routers.filter((router) => routerState(router, snapshot.nowMs, settings) === "live"),
    silence: massSilence(snapshot, settings),
  };
}

/** Silent: its lease ran out and it did not say goodbye. */
export function routerState(router: Router, nowMs: number, settings: ControlSettings): "live" | "silent" | "left" {
  if (router.leftAtMs !== null) return "left";
  return nowMs - router.lastSeenAtMs < settings.routerLeaseMs ? "live" : "silent";
}

/** As the control loop sees it: nobody is lost while the silence of most is taken for ours. */
export function livenessOf(node: Node, { world, settings, silence }: ViewContext): Liveness {
  const { nowMs, controlSinceMs } = world.snapshot;
  if (silence?.nodeIds.has(node.id) === true) return "suspect";
  return nodeLiveness(node, { nowMs, controlSinceMs, settings });
}

/** What the node's agent last said of a shard. */
export function observationOf(
  context: ViewContext,
  shard: { readonly nodeId: string; readonly replicaId: string; readonly generation: number; readonly rank: number },
): ShardObservation | null {
  const observations = context.nodes.get(shard.nodeId)?.observations ?? [];
  return (
    observations.find(
      (one) => one.replicaId === shard.replicaId && one.generation === shard.generation && one.rank === shard.rank,
    ) ?? null
  );
}

/** Requests in flight on a replica's present endpoint, all live routers together. */
export function inflightOf(
  context: ViewContext,
  replica: { readonly id: string; readonly generation: number },
): number {
  return context.liveRouters
    .flatMap((router) => router.endpoints)
    .filter((endpoint) => endpoint.replicaId === replica.id && endpoint.generation === replica.generation)
    .reduce((sum, endpoint) => sum + endpoint.inflight, 0);
}
