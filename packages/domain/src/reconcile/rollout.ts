import type { Model, Rollout } from "../cluster/model.ts";
import type { Replica } from "../cluster/replica.ts";
import { describeReason } from "../reasons/catalogue.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { type Draft, desiredCount, setPhase } from "./draft.ts";
import { nodeName } from "./facts.ts";
import { countServing, leavingOf, moversOf } from "./leaving.ts";
import { unprovenReason } from "./proof.ts";

/** A model on its way to another revision, with its rollout; null where there is none or it is paused. */
function rolling(model: Model): { readonly model: Model; readonly rollout: Rollout } | null {
  const { rollout } = model;
  return rollout === null || rollout.failedAtMs !== null ? null : { model, rollout };
}

/**
 * Ends rollouts: complete once nothing of another revision is left and the new one serves in full; paused as failed when
 * its replicas do not start, or when routers do not reach one that is ready.
 */
export function followRollouts(draft: Draft): void {
  for (const model of draft.facts.models.values()) {
    const found = rolling(model);
    if (found === null) continue;
    const failure = isComplete(draft, model) ? null : failureOf(draft, found);
    if (failure === undefined) continue;
    draft.decide({ kind: "set_rollout", modelId: model.id, revision: model.revision, failure });
  }
}

function isComplete(draft: Draft, model: Model): boolean {
  if (model.deletedAtMs !== null) return true;
  const replicas = draft.replicasOf(model.id);
  const current = replicas.filter((replica) => replica.modelRevision === model.revision);
  return current.length === replicas.length && countServing(current) >= desiredCount(model);
}

/** Undefined: it goes on. */
function failureOf(
  draft: Draft,
  { model, rollout }: { readonly model: Model; readonly rollout: Rollout },
): Reason | undefined {
  const { rolloutFailures, rolloutStallMs } = draft.settings;
  const { id, revision } = model;
  let failures = 0;
  let last: { readonly replica: Replica; readonly nodeId: string; readonly atMs: number } | undefined;
  let isRefused = false;
  for (const replica of draft.replicasOf(id)) {
    if (replica.modelRevision !== revision || replica.generation === 0) continue;
    for (const failure of replica.failures) {
      if (failure.atMs < rollout.startedAtMs) continue;
      failures += 1;
      if (last === undefined || failure.atMs >= last.atMs) last = { replica, ...failure };
    }
    isRefused ||= replica.reason?.code === "bad_configuration";
    const forMs = replica.offeredAtMs === null ? 0 : draft.nowMs - replica.offeredAtMs;
    const why = replica.phase === "starting" && forMs >= rolloutStallMs ? unprovenReason(draft.facts, replica) : null;
    if (why?.code === "awaiting_routers") {
      const { routers } = why.params;
      return reason("rollout_not_reached", {
        model: id,
        revision,
        replica: replica.id,
        forMs: rolloutStallMs,
        routers,
      });
    }
  }
  if (last === undefined || (failures < rolloutFailures && !isRefused)) return undefined;
  const node = nodeName(draft.facts, last.nodeId);
  return reason("rollout_starts_failed", { model: id, revision, failures, node, cause: causeOf(last.replica) });
}

function causeOf({ reason: why }: Replica): string {
  return why !== null && "cause" in why.params ? why.params.cause : "it did not start";
}

/**
 * Where a model says `whenFull: replace` and its next revision finds no room beside the old one, one old replica ends
 * first, one at a time; the last one that serves only where the operator accepted the gap.
 */
export function makeRoom(draft: Draft): void {
  for (const model of draft.facts.models.values()) {
    const found = rolling(model);
    if (found === null || model.spec.update.whenFull !== "replace") continue;
    const replicas = draft.replicasOf(model.id);
    if (replicas.some(({ phase }) => phase === "starting" || phase === "draining" || phase === "stopping")) continue;
    const waiting = replicas.find((replica) => replica.phase === "pending" && replica.reason?.code === "no_fit");
    if (waiting?.reason?.code !== "no_fit") continue;
    if (countServing(replicas) < 2 && !found.rollout.acceptGap) continue;
    const { replaced, waiting: alone } = moversOf(draft, model.id);
    const original = [...replaced.map((pair) => pair.original), ...alone].find(
      (replica) => leavingOf(draft.facts, replica)?.kind === "rollout",
    );
    if (original === undefined) continue;
    const { nearest, nearestReason } = waiting.reason.params;
    const words = nearestReason === undefined ? nearest : describeReason(nearestReason);
    const why = reason("stopped_for_room", { model: model.id, nearest: words });
    setPhase(draft, original, { to: "draining", reason: why, routing: true });
  }
}
