import type { Score } from "./score.ts";

/** Large holes stay whole for large models: 1 / (1 + GPUs that would still fit this model here afterwards). */
export const holes: Score = ({ evaluation, picked }) => {
  const left = evaluation.gpus.filter((gpu) => gpu.accepted).length - picked.length;
  return { value: 1 / (1 + left), words: `leaves ${left} such ${left === 1 ? "GPU" : "GPUs"} free` };
};
