import { type ControlPlane, done, refused } from "@llmgw/api/server";
import { type Model, place } from "@llmgw/domain";
import { look, type UseCaseDependencies, unknown } from "./dependencies.ts";
import { findModel, findNode } from "./find.ts";

export function placementUseCases(dependencies: UseCaseDependencies): ControlPlane["placement"] {
  return {
    explain: async ({ model, spec, replica, exclude }) => {
      const context = await look(dependencies);
      const { snapshot } = context.world;
      const excluded = new Set<string>();
      for (const name of exclude) {
        const node = findNode(context, name);
        if (!node.ok) return node;
        excluded.add(node.value.id);
      }
      const present = replica === undefined ? null : snapshot.replicas.find((one) => one.id === replica);
      if (present === undefined)
        return unknown(
          "replica",
          replica ?? "",
          snapshot.replicas.map((one) => one.id),
        );
      let question: Model;
      if (spec !== undefined) {
        const none = { deletedAtMs: null, revisions: [], rollout: null, loadTimesMs: [] };
        question = { id: spec.id, spec, revision: 0, createdAtMs: snapshot.nowMs, ...none };
      } else {
        const wanted = model ?? present?.modelId;
        if (wanted === undefined) {
          const message = "Name what is to be placed: a model, a replica or a spec. Found none of them.";
          return refused({ kind: "invalid", message });
        }
        const found = findModel(context, wanted);
        if (!found.ok) return found;
        question = found.value;
      }
      return done(
        place({
          model: question,
          replicaId: present?.id ?? null,
          snapshot,
          settings: dependencies.settings.control,
          exclude: excluded,
        }),
      );
    },
  };
}
