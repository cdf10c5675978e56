import { gpuCondition } from "./gpu-condition.ts";
import { holes } from "./holes.ts";
import { pack } from "./pack.ts";
import { recentFailures } from "./recent-failures.ts";
import type { Score } from "./score.ts";
import { spread } from "./spread.ts";
import { weightsPresent } from "./weights-present.ts";

/**
 * What a good place is, in points. The order of magnitude is the meaning: not failing again and not sharing a node's
 * fate outweigh a tidy cluster; a degraded card outweighs a download; packing only decides between equals.
 */
export const scoreWeights = [
  { name: "spread", weight: 40, score: spread },
  { name: "recent_failures", weight: 40, score: recentFailures },
  { name: "gpu_condition", weight: 25, score: gpuCondition },
  { name: "weights_present", weight: 20, score: weightsPresent },
  { name: "holes", weight: 15, score: holes },
  { name: "pack", weight: 10, score: pack },
] as const satisfies readonly { readonly name: string; readonly weight: number; readonly score: Score }[];
