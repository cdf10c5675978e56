import type { ModelView } from "@llmgw/api";
import { type ControlPlane, done, type Outcome, refused } from "@llmgw/api/server";
import { applyModel, deleteModel, scaleModel } from "../../db/operator/change-model.ts";
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
      const applied = await applyModel(database, spec, (before, after) =>
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
