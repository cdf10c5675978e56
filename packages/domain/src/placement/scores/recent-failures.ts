import type { Score } from "./score.ts";

/** Nodes where this model did not fail lately: 1 / (1 + failures within the window). */
export const recentFailures: Score = ({ node }, { failures, model }) => {
  const count = failures.get(node.id) ?? 0;
  const words = count === 0 ? `${model.id} has not failed here lately` : `${model.id} failed here ${count} × lately`;
  return { value: 1 / (1 + count), words };
};
