import type { Score } from "./score.ts";

/** Different models together, so that empty nodes stay empty: the share of the node's GPUs already in use. */
export const pack: Score = ({ evaluation }) => {
  const total = evaluation.gpus.length;
  const inUse = evaluation.gpus.filter(({ holders }) => holders.some((holder) => holder.kind === "shard")).length;
  return { value: total === 0 ? 0 : inUse / total, words: `${inUse} of ${total} GPUs in use` };
};
