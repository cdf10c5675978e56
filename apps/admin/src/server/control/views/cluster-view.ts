import type { ClusterView, RouterView } from "@llmgw/api";
import { nodeAvailability } from "@llmgw/domain";
import type { BuildInfo } from "@llmgw/service";
import { livenessOf, routerState, type ViewContext } from "./context.ts";
import { instantOf } from "./instants.ts";
import { modelView } from "./model-view.ts";
import { gpuExclusion } from "./node-view.ts";

export function clusterView(
  context: ViewContext,
  about: { readonly clusterId: string; readonly build: BuildInfo; readonly routerUrl: string | null },
): ClusterView {
  const { snapshot, leader } = context.world;
  const { nodes, replicas } = snapshot;
  const availability = nodes.map((node) => nodeAvailability(node, snapshot.drains));
  const models = snapshot.models
    .filter((model) => model.deletedAtMs === null)
    .map((model) => modelView(model, context));
  const gpus = nodes.flatMap((node, index) => {
    const nodeTakesWork = availability[index] === "active" && livenessOf(node, context) === "live";
    return node.gpus.map((gpu) => ({ nodeTakesWork, isExcluded: gpuExclusion(gpu, node) !== null }));
  });
  const routers = routerViews(context);
  const running = replicas.filter((replica) => replica.phase !== "stopped");
  return {
    id: about.clusterId,
    version: snapshot.version,
    now: instantOf(snapshot.nowMs),
    build: { version: about.build.version, commit: about.build.commit === "unknown" ? null : about.build.commit },
    simulated: nodes.some((node) => node.simulated),
    nodes: {
      total: nodes.length,
      live: nodes.filter((node) => livenessOf(node, context) === "live").length,
      draining: availability.filter((one) => one === "draining").length,
      cordoned: availability.filter((one) => one === "cordoned" || one === "drained").length,
    },
    gpus: {
      total: gpus.length,
      usable: gpus.filter((gpu) => gpu.nodeTakesWork && !gpu.isExcluded).length,
      excluded: gpus.filter((gpu) => gpu.isExcluded).length,
    },
    models: {
      total: models.length,
      belowDesired: models.filter((model) => model.serving + model.moving < model.desired).length,
    },
    replicas: { total: running.length, serving: running.filter((replica) => replica.phase === "serving").length },
    openDrains: snapshot.drains.filter((drain) => drain.endedAtMs === null).length,
    routers: {
      live: routers.filter((router) => router.state === "live").length,
      silent: routers.filter((router) => router.state === "silent").length,
    },
    massSilence:
      context.silence === null ? null : { silent: context.silence.nodeIds.size, nodes: context.silence.nodes },
    leader,
    routerUrl: about.routerUrl,
  };
}

export function routerViews({ world, settings }: ViewContext): RouterView[] {
  const { routers, nowMs } = world.snapshot;
  return routers.map((router) => ({
    id: router.id,
    name: router.name,
    address: router.address,
    version: router.version,
    lastSeenAt: instantOf(router.lastSeenAtMs),
    state: routerState(router, nowMs, settings),
    appliedVersion: router.appliedVersion,
    inflight: router.endpoints.reduce((sum, endpoint) => sum + endpoint.inflight, 0),
  }));
}
