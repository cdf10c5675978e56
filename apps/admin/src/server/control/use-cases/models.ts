import type { ModelView } from "@llmgw/api";
import { type ControlPlane, done, type Outcome, refused } from "@llmgw/api/server";
import { acceptGap, applyModel, deleteModel, rollBackModel, scaleModel } from "../../db/operator/change-model.ts";
import { modelView } from "../views/model-view.ts";
import { actorAudit } from "./actor-audit.ts";
import { look, type UseCaseDependencies, unknown } from "./dependencies.ts";
import { findModel } from "./find.ts";

export function modelUseCases(dependencies: UseCaseDependencies): ControlPlane["models"] {
  const { database } = dependencies;
  return {
    list: async () => {
      const context = await look(dependencies);
      const { models, replicas } = context.world.snapshot;
      const running = new Set(replicas.filter((one) => one.phase !== "stopped").map((one) => one.modelId));
      return models
        .filter((model) => model.deletedAtMs === null || running.has(model.id))
        .map((model) => modelView(model, context));
    },
    get: async (wanted) => {
      const context = await look(dependencies);
      const found = findModel(context, wanted);
      return found.ok ? done(modelView(found.value, context)) : found;
    },
    apply: async (spec, actor) => {
      const applied = await applyModel(database, { spec, by: actor.name }, (before, after) =>
        actorAudit(actor, { verb: "models.applySpec", target: spec.id, before, after }),
      );
      if (applied.kind === "name_taken") {
        const message = `"${applied.name}" is the id or an alias of model ${applied.model}. Names are unique: choose another one for ${spec.id}.`;
        return refused({ kind: "conflict", message });
      }
      dependencies.onChanged();
      const model = await viewOf(dependencies, spec.id);
      return model.ok ? done({ model: model.value, change: applied.kind }) : model;
    },
    rollback: async ({ model, revision, reason }, actor) => {
      const found = findModel(await look(dependencies), model);
      if (!found.ok) return found;
      const order = { modelId: found.value.id, revision: revision ?? null, by: actor.name };
      const changed = await rollBackModel(database, order, (before, after) =>
        actorAudit(actor, {
          verb: "models.rollback",
          target: found.value.id,
          before: { revision: before },
          after: { revision: after },
          reason,
        }),
      );
      if (changed.kind === "unknown") return unknown("model", model, []);
      if (changed.kind === "no_revision") {
        const asked = revision === undefined ? "no earlier revision" : `no revision ${revision} to go back to`;
        const known = changed.known.length === 0 ? "none" : changed.known.join(", ");
        const message = `${found.value.id} is at revision ${changed.present} and has ${asked}. Others that it had: ${known}.`;
        return refused({ kind: "conflict", message });
      }
      dependencies.onChanged();
      return viewOf(dependencies, found.value.id);
    },
    acceptGap: async ({ model, reason }, actor) => {
      const found = findModel(await look(dependencies), model);
      if (!found.ok) return found;
      const { id } = found.value;
      const changed = await acceptGap(database, id, (revision) =>
        actorAudit(actor, { verb: "models.acceptGap", target: id, after: { revision }, reason }),
      );
      if (changed.kind === "unknown") return unknown("model", model, []);
      if (changed.kind === "no_rollout") {
        const message = `${id} is not being rolled out: there is no gap to accept.`;
        return refused({ kind: "conflict", message });
      }
      dependencies.onChanged();
      return viewOf(dependencies, id);
    },
    scale: async ({ model, replicas, reason }, actor) => {
      const found = findModel(await look(dependencies), model);
      if (!found.ok) return found;
      const changed = await scaleModel(database, { modelId: found.value.id, replicas }, (before, after) =>
        actorAudit(actor, {
          verb: "models.scale",
          target: found.value.id,
          before: { replicas: before },
          after: { replicas: after },
          reason,
        }),
      );
      if (changed.kind === "unknown") return unknown("model", model, []);
      dependencies.onChanged();
      return viewOf(dependencies, found.value.id);
    },
    delete: async ({ model, reason }, actor) => {
      const found = findModel(await look(dependencies), model);
      if (!found.ok) return found;
      const changed = await deleteModel(database, found.value.id, (before) =>
        actorAudit(actor, { verb: "models.delete", target: found.value.id, before, reason }),
      );
      if (changed.kind === "unknown") return unknown("model", model, []);
      dependencies.onChanged();
      return viewOf(dependencies, found.value.id);
    },
  };
}

async function viewOf(dependencies: UseCaseDependencies, modelId: string): Promise<Outcome<ModelView>> {
  const context = await look(dependencies);
  const model = context.world.snapshot.models.find((one) => one.id === modelId);
  return model === undefined ? unknown("model", modelId, []) : done(modelView(model, context));
}
