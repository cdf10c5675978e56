import type { Cordon } from "../../cluster/node.ts";
import { reason } from "../../reasons/reason.ts";
import { gpuLabel } from "../context.ts";
import type { GpuRule, NodeRule } from "./rule.ts";

/** An open drain, any cordon of the whole node whoever owns it, or a node left out of this question. */
export const nodeCordon: NodeRule = (node, { openDrains, exclude }) => {
  const drain = openDrains.get(node.id);
  if (drain !== undefined) {
    return reason("node_draining", { node: node.name, by: drain.by, sinceMs: drain.startedAtMs });
  }
  const cordon = oldest(node.cordons, null);
  if (cordon !== undefined) {
    return reason("node_cordoned", { node: node.name, owner: cordon.owner, ...said(cordon) });
  }
  return exclude?.has(node.id) === true ? reason("node_excluded", { node: node.name }) : null;
};

/** A cordon of this one GPU. */
export const gpuCordon: GpuRule = (gpu, node) => {
  const cordon = oldest(node.cordons, gpu.uuid);
  return cordon === undefined ? null : reason("gpu_cordoned", { gpu: gpuLabel(node, gpu), ...said(cordon) });
};

/** The first cordon of the node (null) or of one GPU: the one to lift first, whatever order they were read in. */
function oldest(cordons: readonly Cordon[], gpuUuid: string | null): Cordon | undefined {
  let first: Cordon | undefined;
  for (const row of cordons) {
    if (row.gpuUuid !== gpuUuid) continue;
    if (first === undefined || row.sinceMs < first.sinceMs || (row.sinceMs === first.sinceMs && row.id < first.id)) {
      first = row;
    }
  }
  return first;
}

const said = (cordon: Cordon): { by: string; why: string; sinceMs: number } => ({
  by: cordon.by,
  why: cordon.reason,
  sinceMs: cordon.sinceMs,
});
