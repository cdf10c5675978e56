import type { NodeView } from "@llmgw/api";
import type { StateName, StateWord } from "./states.tsx";

const availability: Readonly<Record<NodeView["availability"], StateWord>> = {
  active: { state: "ready", word: "Ready" },
  cordoned: { state: "cordoned", word: "Cordoned" },
  draining: { state: "draining", word: "Draining" },
  drained: { state: "stopped", word: "Drained" },
};

const liveness: Readonly<Record<NodeView["liveness"], StateWord>> = {
  live: { state: "ready", word: "Live" },
  suspect: { state: "stale", word: "Suspect" },
  lost: { state: "failed", word: "Lost" },
};

/** What operators decided about a node. */
function availabilityOf(node: Pick<NodeView, "availability">): StateWord {
  return availability[node.availability];
}

/** What was decided about it; a node that nobody decided about is *ready* only while it is heard. */
export function decidedStateOf(node: Pick<NodeView, "availability" | "liveness">): StateWord {
  return node.availability === "active" ? nodeStateOf(node) : availabilityOf(node);
}

/** Whether its agent is heard. */
export function livenessOf(node: Pick<NodeView, "liveness">): StateWord {
  return liveness[node.liveness];
}

/** The one state that matters most: a silent node first, then what was decided about it. */
export function nodeStateOf(node: Pick<NodeView, "availability" | "liveness">): StateWord {
  return node.liveness === "live" ? availabilityOf(node) : livenessOf(node);
}

/** The edge colour of a node's row: only for nodes that need a look. */
export function nodeAlert(node: NodeView): StateName | null {
  if (node.liveness !== "live") return livenessOf(node).state;
  if (node.availability !== "active") return availabilityOf(node).state;
  if (node.gpuProbeError !== null || node.gpus.some((gpu) => gpu.health.status === "unhealthy")) return "unhealthy";
  return null;
}
