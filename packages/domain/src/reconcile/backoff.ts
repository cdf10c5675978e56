import type { Replica } from "../cluster/replica.ts";
import type { ControlSettings } from "../cluster/snapshot.ts";

/** The newest failures that a replica remembers. */
const rememberedFailures = 20;

/**
 * How long after its `failures`-th failure on a node (1 = the first) a replica waits before it starts there again:
 * 0, base, 2 × base, 4 × base … up to the cap. Up to a fifth is added on top, drawn from the replica's id, so that
 * replicas that failed together do not start together; the cap holds with it.
 */
export function backoffMs(failures: number, replicaId: string, settings: ControlSettings): number {
  if (failures <= 1) return 0;
  const stepMs = Math.min(settings.backoffMaxMs, settings.backoffBaseMs * 2 ** Math.min(failures - 2, 30));
  return Math.min(settings.backoffMaxMs, Math.round(stepMs * (1 + 0.2 * fractionOf(`${replicaId} ${failures}`))));
}

/** Its failures after one more on this node. They start anew once it has served for long enough. */
export function failuresWith(
  replica: Replica,
  failure: { readonly atMs: number; readonly nodeId: string },
  settings: ControlSettings,
): Replica["failures"] {
  const recovered =
    (replica.phase === "serving" || replica.phase === "moving" || replica.phase === "draining") &&
    failure.atMs - replica.phaseSinceMs >= settings.failuresForgottenMs;
  return [...(recovered ? [] : replica.failures), failure].slice(-rememberedFailures);
}

export function failuresOn(replica: Replica, nodeId: string): number {
  return replica.failures.filter((failure) => failure.nodeId === nodeId).length;
}

/** Failures on a node within the window, newest ones. */
export function recentFailuresOn(
  replica: Replica,
  nodeId: string,
  at: { readonly nowMs: number; readonly settings: ControlSettings },
): number {
  const sinceMs = at.nowMs - at.settings.failureWindowMs;
  return replica.failures.filter((failure) => failure.nodeId === nodeId && failure.atMs >= sinceMs).length;
}

/**
 * Nodes on which a model may not start yet, with the instant from which it may: crash back-off belongs to (model, node),
 * so what fails on one node never delays a start on another.
 */
export function backedOffNodes(
  replicas: readonly Replica[],
  at: { readonly nowMs: number; readonly settings: ControlSettings },
): ReadonlyMap<string, number> {
  const untilMs = new Map<string, number>();
  for (const replica of replicas) {
    const counts = new Map<string, { count: number; lastMs: number }>();
    for (const { nodeId, atMs } of replica.failures) {
      const known = counts.get(nodeId);
      counts.set(nodeId, { count: (known?.count ?? 0) + 1, lastMs: Math.max(atMs, known?.lastMs ?? 0) });
    }
    for (const [nodeId, { count, lastMs }] of counts) {
      const until = lastMs + backoffMs(count, replica.id, at.settings);
      if (until > at.nowMs && until > (untilMs.get(nodeId) ?? 0)) untilMs.set(nodeId, until);
    }
  }
  return untilMs;
}

/** A fraction in [0, 1) that depends on the text only (FNV-1a, 32 bit). */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) / 2 ** 32;
}
