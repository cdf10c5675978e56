import type { Liveness, Node } from "./node.ts";
import type { ControlSettings } from "./snapshot.ts";

/** The clock a node's silence is measured against. `ClusterSnapshot` has the first two. */
export interface LivenessClock {
  /** The database clock, ms. */
  readonly nowMs: number;
  /** When this admin took the control loop, ms. */
  readonly controlSinceMs: number;
  readonly settings: Pick<ControlSettings, "suspectAfterMs" | "lostAfterMs">;
}

/**
 * Whether a node is heard of. Silence counts from its last sync (before the first: from its registration), but never
 * from before this admin took the loop: while no admin listened, nobody could be heard, and nobody is given up on before
 * a full timeout since then.
 */
export function nodeLiveness(node: Node, at: LivenessClock): Liveness {
  const silentMs = at.nowMs - Math.max(node.lastSeenAtMs ?? node.registeredAtMs, at.controlSinceMs);
  if (silentMs >= at.settings.lostAfterMs) return "lost";
  if (silentMs >= at.settings.suspectAfterMs || node.lastSeenAtMs === null) return "suspect";
  return "live";
}
