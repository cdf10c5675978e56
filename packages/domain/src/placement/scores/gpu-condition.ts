import type { Score } from "./score.ts";

/** Healthy GPUs before degraded ones: the healthy share of those it would take. */
export const gpuCondition: Score = ({ picked }) => {
  const healthy = picked.filter(({ gpu }) => gpu.health.status === "healthy").length;
  const words =
    healthy === picked.length ? "all its GPUs are healthy" : `${picked.length - healthy} of its GPUs degraded`;
  return { value: picked.length === 0 ? 0 : healthy / picked.length, words };
};
