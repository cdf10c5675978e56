import type { PlacementContext } from "./context.ts";
import type { NodeEvaluation } from "./evaluate.ts";
import { pickGpus } from "./pick-gpus.ts";
import type { ScorePart, ShardPlacement } from "./record.ts";
import type { Fit } from "./scores/score.ts";
import { scoreWeights } from "./scores/weights.ts";

/** One way to place a whole replica, with its score. */
export interface Proposal {
  /** The node that the replica's head would run on. */
  readonly nodeId: string;
  readonly nodeName: string;
  readonly shards: readonly ShardPlacement[];
  readonly scoreParts: readonly ScorePart[];
  readonly score: number;
}

/** A stage looks for placements of one shape, from the evaluated nodes. The first stage that finds any wins. */
export type Stage = (nodes: readonly NodeEvaluation[], context: PlacementContext) => readonly Proposal[];

/** One shard, on one or several GPUs of one node. */
export const oneNode: Stage = (nodes, context) => {
  const { tp, memoryPerGpuMib } = context.model.spec.resources;
  const proposals: Proposal[] = [];
  for (const evaluation of nodes) {
    if (evaluation.firstFailure !== null) continue;
    const picked = pickGpus(evaluation, tp);
    if (picked === null) {
      throw new Error(`placement: every rule accepts ${evaluation.node.id}, but it has no ${tp} GPUs to take`);
    }
    const { node } = evaluation;
    const scoreParts = scored({ node, evaluation, picked }, context);
    proposals.push({
      nodeId: node.id,
      nodeName: node.name,
      shards: [
        { rank: 0, nodeId: node.id, gpuUuids: picked.map(({ gpu }) => gpu.uuid), memoryMibPerGpu: memoryPerGpuMib },
      ],
      scoreParts,
      score: scoreParts.reduce((sum, part) => sum + part.points, 0),
    });
  }
  return proposals;
};

function scored(fit: Fit, context: PlacementContext): readonly ScorePart[] {
  return scoreWeights.map(({ name, weight, score }) => {
    const { value, words } = score(fit, context);
    return { name, weight, value, points: weight * value, words };
  });
}
