import { reason } from "../../reasons/reason.ts";
import { gpuLabel } from "../context.ts";
import type { GpuRule, NodeRule } from "./rule.ts";

/** The label that makes a node part of a pool. */
const poolLabel = "pool";

/** Pinned nodes (by name or id), required labels, and the pool: a node in a pool takes only models of that pool. */
export const nodeLabels: NodeRule = (node, { model }) => {
  const { place, pool } = model.spec;
  if (place.nodes.length > 0 && !place.nodes.includes(node.name) && !place.nodes.includes(node.id)) {
    return reason("node_not_pinned", { node: node.name, pinned: place.nodes.join(", ") });
  }
  for (const [label, need] of Object.entries(place.labels)) {
    const found = node.labels[label];
    if (found !== need) return reason("node_label_mismatch", { node: node.name, label, found: found ?? "", need });
  }
  const found = node.labels[poolLabel] ?? "";
  const need = pool ?? "";
  return found === need ? null : reason("node_pool_mismatch", { node: node.name, found, need });
};

/** Pinned GPUs, by UUID. */
export const gpuPins: GpuRule = (gpu, node, { model }) => {
  const pinned = model.spec.place.gpus;
  return pinned.length === 0 || pinned.includes(gpu.uuid)
    ? null
    : reason("gpu_not_pinned", { gpu: gpuLabel(node, gpu) });
};
