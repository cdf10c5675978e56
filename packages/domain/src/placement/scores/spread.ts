import type { Score } from "./score.ts";

/** Replicas of one model on different nodes, so that one node takes down one of them: 1 / (1 + others here). */
export const spread: Score = ({ node }, { tenancy, model, replicaId }) => {
  let others = 0;
  for (const id of tenancy.byNode.get(node.id)?.get(model.id) ?? []) if (id !== replicaId) others += 1;
  const words = others === 0 ? `no other replica of ${model.id} here` : `${others} other of ${model.id} here`;
  return { value: 1 / (1 + others), words };
};
