import { type Drain, type DrainResult, drainScope } from "./drain.ts";
import type { Availability, Node } from "./node.ts";

const emptied: ReadonlySet<DrainResult | null> = new Set(["complete", "completeWithLosses", "unconfirmed"]);

/** Results after which a node (or GPU) counts as emptied; after the others its cordon is only a cordon. */
export function isEmptied(result: DrainResult | null): boolean {
  return emptied.has(result);
}

/**
 * What operators and drains decided about a node. Cordons of health and of flapping, and those of single GPUs, do not
 * change it: they only keep new work away.
 */
export function nodeAvailability(node: Node, drains: readonly Drain[]): Availability {
  let last: Drain | null = null;
  for (const drain of drains) {
    if (drain.nodeId !== node.id || drainScope(drain) !== "node") continue;
    if (drain.endedAtMs === null) return "draining";
    if (last === null || endsLater(drain, last)) last = drain;
  }
  const whole = node.cordons.filter((cordon) => cordon.gpuUuid === null);
  const ofDrain = whole.filter((cordon) => cordon.owner === "drain");
  if (last !== null && isEmptied(last.result)) {
    const lastId = last.id;
    if (ofDrain.some((cordon) => cordon.drainId === null || cordon.drainId === lastId)) return "drained";
  }
  return ofDrain.length > 0 || whole.some((cordon) => cordon.owner === "operator") ? "cordoned" : "active";
}

function endsLater(a: Drain, b: Drain): boolean {
  const difference = (a.endedAtMs ?? 0) - (b.endedAtMs ?? 0);
  return difference !== 0 ? difference > 0 : a.startedAtMs > b.startedAtMs;
}
