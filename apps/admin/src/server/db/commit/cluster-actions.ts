import { applyToCordons, applyToRollout, cordonRefusal, rolloutRefusal } from "@llmgw/domain";
import { newId } from "@llmgw/service";
import { toJson } from "../database.ts";
import { Prisma } from "../generated/client.ts";
import { readModels } from "../read-models.ts";
import { readNodes } from "../read-nodes.ts";
import type { Write } from "../write.ts";
import type { Guarded } from "./commit-action.ts";
import { type ActionOf, loopAudit } from "./loop-audit.ts";

/** The control plane's own cordon of a node is set or lifted. */
export async function changeCordon(
  write: Write,
  action: ActionOf<"set_cordon"> | ActionOf<"lift_cordon">,
): Promise<Guarded> {
  const { tx, nowMs, nextVersion } = write;
  const { nodeId, owner } = action;
  const [node] = await readNodes(tx, [nodeId]);
  const refusal = cordonRefusal(node?.cordons, action);
  if (refusal !== null || node === undefined) return refusal;
  const after = applyToCordons(node.cordons, action, { nowMs, version: nextVersion, id: newId("cordon", nowMs) });
  await tx.cordon.deleteMany({ where: { nodeId, owner, gpuUuid: null } });
  for (const { id, by, reason, sinceMs } of after.filter((cordon) => cordon.owner === owner)) {
    await tx.cordon.create({ data: { id, nodeId, owner, by, reason, since: new Date(sinceMs) } });
  }
  write.changed();
  const isSet = action.kind === "set_cordon";
  write.audit(
    loopAudit({
      verb: isSet ? "node.cordon" : "node.uncordon",
      target: node.name,
      after: { owner, ...(isSet ? { reason: action.reason } : {}) },
      cause: null,
    }),
  );
  return null;
}

/** A rollout is complete, or paused as failed. */
export async function setRollout(write: Write, action: ActionOf<"set_rollout">): Promise<Guarded> {
  const { tx, nowMs, nextVersion } = write;
  const [model] = await readModels(tx, [action.modelId]);
  const refusal = rolloutRefusal(model, action);
  if (refusal !== null || model === undefined || model.rollout === null) return refusal;
  const next = applyToRollout(model.rollout, action, { nowMs, version: nextVersion });
  const rollout = next === null ? Prisma.DbNull : toJson(next);
  await tx.model.update({ where: { id: model.id }, data: { rollout }, select: { id: true } });
  write.changed();
  write.audit(
    loopAudit({
      verb: action.failure === null ? "rollout.complete" : "rollout.fail",
      target: model.id,
      before: { revision: model.rollout.fromRevision },
      after: { revision: model.revision, reason: action.failure },
      cause: null,
    }),
  );
  return null;
}
