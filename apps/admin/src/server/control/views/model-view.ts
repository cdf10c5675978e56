import type { ModelView } from "@llmgw/api";
import type { Model, Replica } from "@llmgw/domain";
import type { ViewContext } from "./context.ts";
import { instantOf, instantOrNull } from "./instants.ts";

export function modelView(model: Model, context: ViewContext): ModelView {
  const replicas = context.world.snapshot.replicas.filter((replica) => replica.modelId === model.id);
  const count = (...phases: readonly Replica["phase"][]) =>
    replicas.filter((replica) => phases.includes(replica.phase)).length;
  const desired = model.deletedAtMs === null ? model.spec.replicas : 0;
  const serving = count("serving");
  return {
    id: model.id,
    spec: model.spec,
    revision: model.revision,
    createdAt: instantOf(model.createdAtMs),
    deletedAt: instantOrNull(model.deletedAtMs),
    desired,
    placed: count("starting", "serving"),
    serving,
    moving: count("moving"),
    reason: serving >= desired ? null : whyBelow(replicas),
    simulated: replicas.some((replica) =>
      replica.shards.some((shard) => context.nodes.get(shard.nodeId)?.simulated === true),
    ),
  };
}

/** What keeps a model below its count: the reason of whatever is furthest from serving. */
function whyBelow(replicas: readonly Replica[]) {
  for (const phase of ["failed", "pending", "lost", "starting", "moving"] as const) {
    const found = replicas.find((replica) => replica.phase === phase && replica.reason !== null);
    if (found !== undefined) return found.reason;
  }
  return null;
}
