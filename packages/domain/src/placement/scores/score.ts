import type { Node } from "../../cluster/node.ts";
import type { PlacementContext } from "../context.ts";
import type { GpuEvaluation, NodeEvaluation } from "../evaluate.ts";

/** An accepted node with the GPUs that a shard would take there. */
export interface Fit {
  readonly node: Node;
  readonly evaluation: NodeEvaluation;
  readonly picked: readonly GpuEvaluation[];
}

/** How good a fit is in one respect: 0 (worst) to 1, and why, in words. */
export type Score = (fit: Fit, context: PlacementContext) => { readonly value: number; readonly words: string };
