import type { Gpu } from "../../cluster/gpu.ts";
import type { Node } from "../../cluster/node.ts";
import type { Reason } from "../../reasons/reason.ts";
import type { PlacementContext } from "../context.ts";

/** A rule about a whole node: null when it passes, else why not, with numbers. */
export type NodeRule = (node: Node, context: PlacementContext) => Reason | null;

/** A rule about one GPU of a node. */
export type GpuRule = (gpu: Gpu, node: Node, context: PlacementContext) => Reason | null;
