import type { Model } from "../cluster/model.ts";
import type { Replica } from "../cluster/replica.ts";
import type { Shard } from "../cluster/shard.ts";
import { place } from "../placement/place.ts";
import type { PlacementRecord, ShardPlacement } from "../placement/record.ts";
import type { AssumedShard } from "../placement/tenants.ts";
import { reason } from "../reasons/reason.ts";
import { backedOffNodes, failuresOn, recentFailuresOn } from "./backoff.ts";
import { type Draft, isReleased, presentShards, setPhase } from "./draft.ts";
import { nodeName } from "./facts.ts";
import { sameReason } from "./same-reason.ts";

/**
 * Places one replica, or explains why it has no place. A failed one starts again where it ran, after its back-off and
 * while it still fits there; after repeated failures, or at once when it replaces a replica that is waiting to leave,
 * another node is preferred. Back-off belongs to the node it failed on: it delays no start elsewhere.
 */
export function placeReplica(draft: Draft, model: Model, replica: Replica): void {
  if (replica.phase === "failed" && isBadConfiguration(replica, model)) return;
  const home = homeOf(draft, replica);
  if (home !== null) {
    if (draft.nowMs < (replica.notBeforeMs ?? 0) || !isReleased(replica)) return;
    const record = tryPlace(draft, { model, replica, exclude: new Set() });
    settle(draft, { model, replica, record: keepPlacement(record, model, home) ?? record });
    return;
  }
  const backedOff = backedOffNodes(draft.replicasOf(model.id), draft);
  const left = replica.phase === "failed" ? presentShards(replica).map((shard) => shard.nodeId) : [];
  const exclude = new Set([...backedOff.keys(), ...left]);
  let record = tryPlace(draft, { model, replica, exclude });
  if (record.outcome.kind === "no_fit" && exclude.size > backedOff.size) {
    record = tryPlace(draft, { model, replica, exclude: new Set(backedOff.keys()) });
  }
  if (record.outcome.kind === "no_fit" && backedOff.size > 0) {
    const patient = tryPlace(draft, { model, replica, exclude: new Set() });
    if (patient.outcome.kind === "placed") {
      waitForNode(draft, { replica, record, nodeId: patient.outcome.shards[0]?.nodeId ?? "", backedOff });
      return;
    }
    record = patient;
  }
  settle(draft, { model, replica, record });
}

/**
 * GPUs kept for replicas that sit out a short crash back-off and will start where they ran. Whoever asks `place()` about
 * the same cluster passes these along, so that its answer is the loop's.
 */
export function reservedShards(draft: Draft, exceptReplicaId: string | null): readonly AssumedShard[] {
  return draft.replicas().flatMap((replica) => {
    if (replica.id === exceptReplicaId || replica.phase !== "failed") return [];
    const waitMs = (replica.notBeforeMs ?? 0) - replica.phaseSinceMs;
    const home = homeOf(draft, replica);
    if (home === null || waitMs > draft.settings.backoffReservesMs) return [];
    return home.flatMap((shard) => (shard.releasedAtMs === null ? [] : [{ ...shard, modelId: replica.modelId }]));
  });
}

/** The shards it ran as, where it is to start again in the same place; null where it looks for a new one. */
function homeOf(draft: Draft, replica: Replica): readonly Shard[] | null {
  if (replica.phase !== "failed" || replica.reason?.code === "bad_configuration") return null;
  const shards = presentShards(replica);
  const original = replica.replaces === null ? null : draft.replica(replica.replaces);
  const allowed = original?.phase === "moving" ? 1 : draft.settings.replaceAfterFailures;
  const usable = shards.every(({ nodeId }) => {
    const node = draft.facts.nodes.get(nodeId);
    if (node === undefined || node.drain !== null || node.liveness === "lost") return false;
    return recentFailuresOn(replica, nodeId, draft) < allowed;
  });
  return usable && shards.length > 0 ? shards : null;
}

/** The same configuration would fail again: only another revision of the model starts it. */
function isBadConfiguration(replica: Replica, model: Model): boolean {
  return replica.reason?.code === "bad_configuration" && replica.modelRevision === model.revision;
}

interface Attempt {
  readonly model: Model;
  readonly replica: Replica;
  readonly exclude: ReadonlySet<string>;
}

function tryPlace(draft: Draft, { model, replica, exclude }: Attempt): PlacementRecord {
  return place({
    model,
    replicaId: replica.id,
    snapshot: draft.snapshot(),
    settings: draft.settings,
    exclude,
    assume: { placed: reservedShards(draft, replica.id) },
  });
}

interface Settled {
  readonly model: Model;
  readonly replica: Replica;
  readonly record: PlacementRecord;
}

function settle(draft: Draft, { model, replica, record }: Settled): void {
  const { outcome } = record;
  const original = replica.replaces === null ? null : draft.replica(replica.replaces);
  const drainId = original?.phase === "moving" ? original.drainId : null;
  if (outcome.kind === "placed") {
    draft.decide({
      kind: "place_replica",
      replicaId: replica.id,
      fromPhase: replica.phase,
      fromGeneration: replica.generation,
      modelRevision: model.revision,
      shards: outcome.shards,
      record,
      drainId,
    });
    return;
  }
  const pending =
    replica.phase === "pending"
      ? replica
      : setPhase(draft, replica, { to: "pending", reason: replica.reason, routing: false, drainId, notBeforeMs: null });
  if (sameReason(pending.reason, outcome.reason)) return;
  draft.decide({ kind: "explain_pending", replicaId: pending.id, reason: outcome.reason, record, drainId });
}

interface Wait {
  readonly replica: Replica;
  readonly record: PlacementRecord;
  readonly nodeId: string;
  readonly backedOff: ReadonlyMap<string, number>;
}

/** The only nodes that fit are ones on which this model crashed lately. */
function waitForNode(draft: Draft, { replica, record, nodeId, backedOff }: Wait): void {
  if (replica.phase !== "pending") return;
  const culprits = draft.replicasOf(replica.modelId).filter((other) => failuresOn(other, nodeId) > 0);
  const culprit = culprits.find((other) => other.reason !== null && "cause" in other.reason.params) ?? culprits[0];
  const params = culprit?.reason?.params;
  const why = reason("backing_off", {
    node: nodeName(draft.facts, nodeId),
    failures: culprit === undefined ? 0 : failuresOn(culprit, nodeId),
    untilMs: backedOff.get(nodeId) ?? draft.nowMs,
    cause: params !== undefined && "cause" in params ? params.cause : "crashed",
  });
  if (sameReason(replica.reason, why)) return;
  const { id: replicaId, drainId } = replica;
  draft.decide({ kind: "explain_pending", replicaId, reason: why, record, drainId });
}

/** The record with the former placement as its outcome; null where it does not fit any more. */
function keepPlacement(record: PlacementRecord, model: Model, home: readonly Shard[]): PlacementRecord | null {
  const { tp, memoryPerGpuMib } = model.spec.resources;
  const kept = home.every((shard) => {
    const node = record.candidates.find((candidate) => candidate.nodeId === shard.nodeId);
    const fits = (uuid: string): boolean => node?.gpus.find((gpu) => gpu.uuid === uuid)?.accepted === true;
    return node?.accepted === true && shard.gpuUuids.length === tp && shard.gpuUuids.every(fits);
  });
  if (!kept || record.outcome.kind !== "placed") return null;
  const chosen = new Set(home.flatMap((shard) => shard.gpuUuids.map((uuid) => `${shard.nodeId} ${uuid}`)));
  const shards = home.map(
    (shard): ShardPlacement => ({
      rank: shard.rank,
      nodeId: shard.nodeId,
      gpuUuids: shard.gpuUuids,
      memoryMibPerGpu: memoryPerGpuMib,
    }),
  );
  const name = record.candidates.find((candidate) => candidate.nodeId === home[0]?.nodeId)?.nodeName ?? "";
  const { nodeName: winner, runnerUp } = record.outcome;
  return {
    ...record,
    candidates: record.candidates.map((node) => ({
      ...node,
      gpus: node.gpus.map((gpu) => ({ ...gpu, chosen: chosen.has(`${node.nodeId} ${gpu.uuid}`) })),
    })),
    outcome: { kind: "placed", shards, nodeName: name, runnerUp: winner === name ? runnerUp : winner },
  };
}
