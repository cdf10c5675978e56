import type { Gpu } from "../../cluster/gpu.ts";
import type { Node } from "../../cluster/node.ts";
import { type Reason, reason } from "../../reasons/reason.ts";
import type { PlacementContext } from "../context.ts";

/** GPUs of the node that passed every GPU rule so far, for the rules about how many there are. */
export interface Group {
  readonly node: Node;
  readonly gpus: readonly Gpu[];
  readonly context: PlacementContext;
}

/** The node has as many GPUs as one shard needs at all. */
export function gpuCount({ node, context }: Group): Reason | null {
  const need = context.model.spec.resources.tp;
  const found = node.gpus.length;
  return found >= need ? null : reason("too_few_gpus", { node: node.name, found, need });
}

/** The usable GPUs hold enough of one type: a group is split evenly, so its smallest card bounds all. */
export function sameType({ node, gpus, context }: Group): Reason | null {
  const need = context.model.spec.resources.tp;
  if (gpus.length < need) return null;
  const groups = byType(gpus);
  if (largest(groups) >= need) return null;
  const found = [...groups].map(([type, members]) => `${members.length} × ${type}`).join(", ");
  return reason("gpu_types_differ", { node: node.name, found, need });
}

/** GPUs by type, types in the order of their first GPU. */
export function byType(gpus: readonly Gpu[]): ReadonlyMap<string, readonly Gpu[]> {
  const groups = new Map<string, Gpu[]>();
  for (const gpu of gpus) {
    const members = groups.get(gpu.name);
    if (members === undefined) groups.set(gpu.name, [gpu]);
    else members.push(gpu);
  }
  return groups;
}

/** Members of the largest group. */
export function largest(groups: ReadonlyMap<string, readonly Gpu[]>): number {
  let most = 0;
  for (const members of groups.values()) most = Math.max(most, members.length);
  return most;
}
