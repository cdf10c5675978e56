import { sourceKey } from "../filters/source.ts";
import type { Score } from "./score.ts";

/** The model's weights are on the node's disk already: 1, unknown 0.5, to be fetched 0. */
export const weightsPresent: Score = ({ node }, { model }) => {
  const key = sourceKey(model.spec.source);
  const found = key === null ? undefined : node.sources[key];
  if (found === "present") return { value: 1, words: "weights on disk" };
  if (found === "absent") return { value: 0, words: "weights to be fetched" };
  return { value: 0.5, words: "not known whether the weights are on disk" };
};
