import type { Drain } from "../cluster/drain.ts";
import type { Model } from "../cluster/model.ts";
import type { Cordon } from "../cluster/node.ts";
import type { Replica } from "../cluster/replica.ts";
import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";
import { place } from "../placement/place.ts";
import type { ShardPlacement } from "../placement/record.ts";
import type { Reason } from "../reasons/reason.ts";
import { type Draft, openDraft, presentShards } from "./draft.ts";
import { fill } from "./fill.ts";
import { markLeaving } from "./leave.ts";
import { countServing, isMember, replacementOf } from "./leaving.ts";

/**
 * `moves`: its replacement has a place and serves before it goes. `waits`: it would fit, but others hold the room.
 * `cannot_move`: no other node could host it even if empty. Both of these stop at the grace's end unless something
 * changes. `stops_at_once`: it serves nothing, so nothing is waited for.
 */
export type PreviewOutcome = "moves" | "waits" | "cannot_move" | "stops_at_once";

export interface PreviewedMove {
  readonly replicaId: string;
  readonly modelId: string;
  readonly nodeId: string;
  readonly outcome: PreviewOutcome;
  /** Where it, or its replacement, goes; empty where it has no place. */
  readonly target: readonly ShardPlacement[];
  /** Why it has no place: the nearest candidate's rejection. */
  readonly reason: Reason | null;
}

/** How many replicas of a model take requests: before, and at the lowest point if nothing but the drain happens. */
export interface PreviewedModel {
  readonly modelId: string;
  readonly desired: number;
  readonly servingBefore: number;
  readonly servingLowest: number;
}

export interface DrainForecast {
  readonly snapshotVersion: number;
  readonly atMs: number;
  readonly deadlineAtMs: number;
  readonly moves: readonly PreviewedMove[];
  readonly models: readonly PreviewedModel[];
}

export interface PreviewQuestion {
  readonly nodeIds: readonly string[];
  readonly graceMs: number;
  readonly snapshot: ClusterSnapshot;
  readonly settings: ControlSettings;
}

/** More than any model has replicas: a preview looks at all moves at once. */
const allAtOnce = 1_000_000;

/**
 * What draining these nodes would do: the control loop's own steps, run on the cluster as it would be with the drains
 * open. Moves are placed in the loop's order, with what the others already took counted; only the limit on how many move
 * at a time is lifted, since it changes when they move and not where to.
 */
export function previewDrain({ nodeIds, graceMs, snapshot, settings }: PreviewQuestion): DrainForecast {
  const leavingIds = new Set(nodeIds);
  const deadlineAtMs = snapshot.nowMs + graceMs;
  const hypothetical = withDrains(snapshot, leavingIds, deadlineAtMs);
  const draft = openDraft(hypothetical, settings);
  const before = draft.replicas().filter((replica) => isHere(replica, leavingIds));
  let made = 0;
  const replicaSuffix = (): string => {
    made += 1;
    return `preview${made}`;
  };
  markLeaving(draft);
  fill(draft, { replicaSuffix });
  const moves = before
    .map((replica) => previewMove(draft, replica, leavingIds))
    .sort((a, b) => (a.replicaId < b.replicaId ? -1 : 1));
  return {
    snapshotVersion: snapshot.version,
    atMs: snapshot.nowMs,
    deadlineAtMs,
    moves,
    models: models(draft, snapshot, moves),
  };
}

function previewMove(draft: Draft, replica: Replica, leavingIds: ReadonlySet<string>): PreviewedMove {
  const here = replica.shards.find((shard) => shard.releasedAtMs === null && leavingIds.has(shard.nodeId));
  const base = { replicaId: replica.id, modelId: replica.modelId, nodeId: here?.nodeId ?? "" };
  const serves = replica.phase === "serving" || replica.phase === "moving";
  const after = draft.replica(replica.id) ?? replica;
  const heir = isMember(after) ? after : replacementOf(draft, after);
  const target = heir?.phase === "starting" || heir?.phase === "serving" ? placementOf(heir) : [];
  const reason = target.length === 0 ? (heir?.reason ?? null) : null;
  if (!serves) return { ...base, outcome: "stops_at_once", target, reason };
  if (target.length > 0) return { ...base, outcome: "moves", target, reason: null };
  const model = draft.facts.models.get(replica.modelId);
  const outcome = model !== undefined && fitsInEmptyCluster(draft, model) ? "waits" : "cannot_move";
  return { ...base, outcome, target, reason };
}

function placementOf(replica: Replica): readonly ShardPlacement[] {
  return presentShards(replica).map(({ rank, nodeId, gpuUuids, memoryMibPerGpu }) => ({
    rank,
    nodeId,
    gpuUuids,
    memoryMibPerGpu,
  }));
}

/** Would it fit if nothing of ours ran anywhere? */
function fitsInEmptyCluster(draft: Draft, model: Model): boolean {
  const snapshot = draft.snapshot();
  const freed = new Set(snapshot.replicas.map((replica) => replica.id));
  const record = place({ model, replicaId: null, snapshot, settings: draft.settings, assume: { freed } });
  return record.outcome.kind === "placed";
}

function models(draft: Draft, snapshot: ClusterSnapshot, moves: readonly PreviewedMove[]): readonly PreviewedModel[] {
  const ids = [...new Set(moves.map((move) => move.modelId))].sort((a, b) => (a < b ? -1 : 1));
  return ids.map((modelId) => {
    const servingBefore = countServing(snapshot.replicas.filter((replica) => replica.modelId === modelId));
    const stuck = moves.filter(
      (move) => move.modelId === modelId && (move.outcome === "waits" || move.outcome === "cannot_move"),
    ).length;
    const desired = draft.facts.models.get(modelId)?.spec.replicas ?? 0;
    return { modelId, desired, servingBefore, servingLowest: servingBefore - stuck };
  });
}

/** The snapshot with a drain open on each of the nodes; one that is draining already keeps its own. */
function withDrains(snapshot: ClusterSnapshot, nodeIds: ReadonlySet<string>, deadlineAtMs: number): ClusterSnapshot {
  const open = new Set(snapshot.drains.flatMap((drain) => (drain.endedAtMs === null ? [drain.nodeId] : [])));
  const added = [...nodeIds].filter((nodeId) => !open.has(nodeId));
  const drains = added.map(
    (nodeId): Drain => ({
      id: `preview ${nodeId}`,
      nodeId,
      by: "this preview",
      reason: "preview",
      startedAtMs: snapshot.nowMs,
      deadlineAtMs,
      forcedAtMs: null,
      forcedBy: null,
      endedAtMs: null,
      result: null,
      losses: [],
    }),
  );
  return {
    ...snapshot,
    drains: [...snapshot.drains, ...drains],
    nodes: snapshot.nodes.map((node) =>
      added.includes(node.id) ? { ...node, cordons: [...node.cordons, cordonOf(node.id, snapshot.nowMs)] } : node,
    ),
    models: snapshot.models.map((model) => ({
      ...model,
      spec: { ...model.spec, update: { ...model.spec.update, maxSurge: allAtOnce } },
    })),
  };
}

function cordonOf(nodeId: string, sinceMs: number): Cordon {
  return {
    id: `preview ${nodeId}`,
    nodeId,
    gpuUuid: null,
    owner: "drain",
    by: "this preview",
    reason: "preview",
    sinceMs,
    drainId: `preview ${nodeId}`,
  };
}

function isHere(replica: Replica, nodeIds: ReadonlySet<string>): boolean {
  const runs = replica.phase === "starting" || replica.phase === "serving" || replica.phase === "moving";
  return runs && replica.shards.some((shard) => shard.releasedAtMs === null && nodeIds.has(shard.nodeId));
}
