import type { Liveness, Node } from "./node.ts";
import type { ClusterSnapshot, ControlSettings } from "./snapshot.ts";

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
 * a full timeout since then. A node that an operator called lost is lost until it is heard again.
 */
export function nodeLiveness(node: Node, at: LivenessClock): Liveness {
  if (isConfirmedLost(node)) return "lost";
  const silentMs = at.nowMs - heardAtMs(node, at);
  if (silentMs >= at.settings.lostAfterMs) return "lost";
  if (silentMs >= at.settings.suspectAfterMs || node.lastSeenAtMs === null) return "suspect";
  return "live";
}

/** Most nodes went silent together: that is taken for a fault of ours (network, database, clock), not of theirs. */
export interface MassSilence {
  /** The nodes that went silent together: nothing of theirs is replaced. */
  readonly nodeIds: ReadonlySet<string>;
  /** Of how many. */
  readonly nodes: number;
}

/**
 * Looks for `massSilenceRatio` of the nodes (and at least `massSilenceMinNodes`) that fell silent within one window and
 * have not been heard since. It ends when enough of them return, or an operator confirms some as lost.
 */
export function massSilence(
  snapshot: Pick<ClusterSnapshot, "nodes" | "nowMs" | "controlSinceMs">,
  settings: ControlSettings,
): MassSilence | null {
  const at = { nowMs: snapshot.nowMs, controlSinceMs: snapshot.controlSinceMs, settings };
  const silent: { readonly id: string; readonly atMs: number }[] = [];
  let others = 0;
  for (const node of snapshot.nodes) {
    if (isConfirmedLost(node) || node.lastSeenAtMs === null) continue;
    if (nodeLiveness(node, at) === "live") others += 1;
    else silent.push({ id: node.id, atMs: heardAtMs(node, at) });
  }
  silent.sort((a, b) => a.atMs - b.atMs);
  let first = 0;
  let found = { first: 0, count: 0 };
  for (let last = 0; last < silent.length; last += 1) {
    const end = silent[last];
    if (end === undefined) break;
    while (end.atMs - (silent[first]?.atMs ?? end.atMs) > settings.massSilenceWindowMs) first += 1;
    const count = last - first + 1;
    // Nodes lost long before count for neither side.
    const isMass =
      count >= settings.massSilenceMinNodes && count >= settings.massSilenceRatio * (others + silent.length - first);
    if (isMass && count > found.count) found = { first, count };
  }
  if (found.count === 0) return null;
  const together = silent.slice(found.first, found.first + found.count);
  return { nodeIds: new Set(together.map(({ id }) => id)), nodes: others + silent.length - found.first };
}

/** When a node came back once more: the instants that say whether it flaps. */
export function isFlapping(
  node: Pick<Node, "returnsAtMs">,
  at: { readonly nowMs: number; readonly settings: ControlSettings },
): boolean {
  const { flapReturns, flapWindowMs, flapStableMs } = at.settings;
  const last = node.returnsAtMs.at(-1);
  if (last === undefined || at.nowMs - last >= flapStableMs) return false;
  return node.returnsAtMs.filter((atMs) => at.nowMs - atMs <= flapWindowMs).length >= flapReturns;
}

/** The newest returns that a node remembers. */
export const rememberedReturns = 10;

/**
 * A node's memory of its returns after one more word from it. Silence from before this admin took the loop is not its
 * own. Reports are saved in bulk by SQL that does the same (`saveNodeReports`).
 */
export function returnsAfterWord(
  node: Pick<Node, "lastSeenAtMs" | "returnsAtMs">,
  at: LivenessClock,
): readonly number[] {
  if (node.lastSeenAtMs === null) return node.returnsAtMs;
  const silentMs = at.nowMs - Math.max(node.lastSeenAtMs, at.controlSinceMs);
  return silentMs < at.settings.suspectAfterMs
    ? node.returnsAtMs
    : [...node.returnsAtMs, at.nowMs].slice(-rememberedReturns);
}

export function isConfirmedLost(node: Pick<Node, "lastSeenAtMs" | "lostConfirmedAtMs">): boolean {
  return node.lostConfirmedAtMs !== null && (node.lastSeenAtMs ?? 0) < node.lostConfirmedAtMs;
}

function heardAtMs(node: Node, { controlSinceMs }: Pick<LivenessClock, "controlSinceMs">): number {
  return Math.max(node.lastSeenAtMs ?? node.registeredAtMs, controlSinceMs);
}
