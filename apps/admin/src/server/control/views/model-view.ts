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
    rollout: rolloutView(model, replicas),
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

/** How far a model is on its way to its present revision; null when it is there. */
function rolloutView({ rollout, revision, spec }: Model, replicas: readonly Replica[]): ModelView["rollout"] {
  if (rollout === null) return null;
  const running = replicas.filter((replica) => replica.phase !== "stopped" && replica.generation > 0);
  const updated = running.filter((replica) => replica.modelRevision === revision);
  const waiting = replicas.find((replica) => replica.phase === "pending" || replica.phase === "failed");
  return {
    fromRevision: rollout.fromRevision,
    toRevision: revision,
    status: rollout.failedAtMs === null ? "running" : "failed",
    startedAt: instantOf(rollout.startedAtMs),
    by: rollout.by,
    failedAt: instantOrNull(rollout.failedAtMs),
    acceptGap: rollout.acceptGap,
    desired: spec.replicas,
    updated: updated.filter((replica) => replica.phase === "serving").length,
    starting: updated.filter((replica) => replica.phase === "starting").length,
    old: running.length - updated.length,
    reason: rollout.reason ?? waiting?.reason ?? null,
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
