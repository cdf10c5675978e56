import { nodeLiveness } from "../../cluster/liveness.ts";
import { reason } from "../../reasons/reason.ts";
import type { NodeRule } from "./rule.ts";

/**
 * Nothing new goes to a node that is not heard of. Stricter than `nodeLiveness` right after an admin took the loop: that
 * one waits before it gives a node up, this one waits for the node's word before it gives it work.
 */
export const liveness: NodeRule = (node, { snapshot, settings }) => {
  if (node.lastSeenAtMs === null) return reason("node_never_seen", { node: node.name });
  const silentMs = snapshot.nowMs - node.lastSeenAtMs;
  if (silentMs < settings.suspectAfterMs) return null;
  const lost = nodeLiveness(node, { ...snapshot, settings }) === "lost";
  return reason(lost ? "node_lost" : "node_suspect", { node: node.name, silentMs });
};
