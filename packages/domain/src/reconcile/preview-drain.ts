import { type Drain, drainCovers } from "../cluster/drain.ts";
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
import { isMember, replacementOf } from "./leaving.ts";
import { type PreviewedModel, previewModels } from "./preview-models.ts";

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
  /** Its turn among the moves: those of round 2 take room that moves of round 1 leave. 0 where it has no place. */
  readonly round: number;
  /** It can start on `target` only after it stopped here: nothing of it serves from this instant on until then. */
  readonly gapFromMs: number | null;
}

export interface DrainForecast {
  readonly snapshotVersion: number;
  readonly atMs: number;
  readonly deadlineAtMs: number;
  readonly moves: readonly PreviewedMove[];
  readonly models: readonly PreviewedModel[];
  /** How long all moves that have a place take, ms, by what is known of load times. */
  readonly neededMs: number;
  /** A grace within which they do, with the moves at a time that models allow. */
  readonly sufficientGraceMs: number;
}

/** What is to be drained: a node, one GPU of it, or one replica of it. */
export type DrainTarget = Pick<Drain, "nodeId" | "gpuUuid" | "replica">;

export interface PreviewQuestion {
  readonly targets: readonly DrainTarget[];
  readonly graceMs: number;
  readonly snapshot: ClusterSnapshot;
  readonly settings: ControlSettings;
}

/** More than any model has replicas: a round looks at all moves at once. */
const allAtOnce = 1_000_000;

/** More rounds than this only happen if moves make room for each other in a circle, which they cannot. */
const mostRounds = 50;

/**
 * What draining these together would do: the control loop's own steps, run on the cluster as it would be with the drains
 * open, and the moves applied in the loop's order. Each round places what fits, then takes it as done, so that a later
 * move may use what an earlier one left; at the end, what still has no place is stopped, as it is when its grace ends.
 */
export function previewDrain({ targets, graceMs, snapshot, settings }: PreviewQuestion): DrainForecast {
  const deadlineAtMs = snapshot.nowMs + graceMs;
  let world = withDrains(snapshot, targets, deadlineAtMs);
  const affected = openDraft(world, settings)
    .replicas()
    .filter((replica) => isHere(replica, targets));
  const moves = new Map<string, PreviewedMove>();
  let made = 0;
  const replicaSuffix = (): string => `preview${++made}`;
  let draft: Draft | null = null;
  for (let round = 1; round <= mostRounds; round += 1) {
    draft = openDraft(world, settings);
    markLeaving(draft);
    fill(draft, { replicaSuffix });
    const before = placedCount(moves);
    for (const replica of affected) {
      if (moves.get(replica.id)?.round !== undefined && (moves.get(replica.id)?.round ?? 0) > 0) continue;
      moves.set(replica.id, previewMove(draft, replica, { targets, round }));
    }
    if (placedCount(moves) === before || placedCount(moves) === affected.length) break;
    world = movedOn(draft, (replica) => (moves.get(replica.id)?.round ?? 0) > 0);
  }
  if (draft !== null) addGaps(draft, moves, { settings, deadlineAtMs, replicaSuffix });
  const list = [...moves.values()].sort((a, b) => (a.replicaId < b.replicaId ? -1 : 1));
  const models = previewModels(list, { snapshot, settings, graceMs });
  return {
    snapshotVersion: snapshot.version,
    atMs: snapshot.nowMs,
    deadlineAtMs,
    moves: list,
    models,
    neededMs: Math.max(0, ...models.map((model) => model.neededMs)),
    sufficientGraceMs: Math.max(0, ...models.map((model) => model.sufficientGraceMs)),
  };
}

function placedCount(moves: ReadonlyMap<string, PreviewedMove>): number {
  return [...moves.values()].filter((move) => move.round > 0).length;
}

function previewMove(
  draft: Draft,
  replica: Replica,
  { targets, round }: { readonly targets: readonly DrainTarget[]; readonly round: number },
): PreviewedMove {
  const here = replica.shards.find(
    (shard) => shard.releasedAtMs === null && targets.some((t) => drainCovers(t, shard)),
  );
  const base = { replicaId: replica.id, modelId: replica.modelId, nodeId: here?.nodeId ?? "", gapFromMs: null };
  const serves = replica.phase === "serving" || replica.phase === "moving";
  const after = draft.replica(replica.id) ?? replica;
  const heir = isMember(after) ? after : replacementOf(draft, after);
  const target = heir?.phase === "starting" || heir?.phase === "serving" ? placementOf(heir) : [];
  const isPlaced = target.length > 0;
  const reason = isPlaced ? null : (heir?.reason ?? null);
  const placed = { ...base, target, reason, round: isPlaced ? round : 0 };
  if (!serves) return { ...placed, outcome: "stops_at_once" };
  if (isPlaced) return { ...placed, outcome: "moves" };
  const model = draft.facts.models.get(replica.modelId);
  return { ...placed, outcome: model !== undefined && fitsInEmptyCluster(draft, model) ? "waits" : "cannot_move" };
}

/** Where what has no place beside itself could go once it has stopped: a gang that needs GPUs it still holds. */
function addGaps(
  draft: Draft,
  moves: Map<string, PreviewedMove>,
  about: {
    readonly settings: ControlSettings;
    readonly deadlineAtMs: number;
    readonly replicaSuffix: () => string;
  },
): void {
  const waiting = [...moves.values()].filter((move) => move.outcome === "waits");
  if (waiting.length === 0) return;
  const stuck = new Set(waiting.map((move) => move.replicaId));
  const after = openDraft(
    movedOn(draft, (replica) => stuck.has(replica.id) || (moves.get(replica.id)?.round ?? 0) > 0),
    about.settings,
  );
  markLeaving(after);
  fill(after, { replicaSuffix: about.replicaSuffix });
  for (const move of waiting) {
    const heir = after.replicasOf(move.modelId).find((replica) => replica.replaces === move.replicaId);
    if (heir?.phase !== "starting") continue;
    moves.set(move.replicaId, { ...move, target: placementOf(heir), gapFromMs: about.deadlineAtMs });
  }
}

/** The cluster once these originals are gone and what was placed serves. */
function movedOn(draft: Draft, isGone: (replica: Replica) => boolean): ClusterSnapshot {
  const snapshot = draft.snapshot();
  const at = snapshot.nowMs;
  return {
    ...snapshot,
    replicas: snapshot.replicas.map((replica): Replica => {
      if (replica.phase === "moving" && isGone(replica)) {
        const shards = replica.shards.map((shard) => ({ ...shard, releasedAtMs: shard.releasedAtMs ?? at }));
        return { ...replica, phase: "stopped", shards };
      }
      const serves = replica.phase === "starting" && draft.actions.some((one) => isPlacementOf(one, replica.id));
      return serves ? { ...replica, phase: "serving", offeredAtMs: at, provenSinceMs: at } : replica;
    }),
  };
}

function isPlacementOf(action: Draft["actions"][number], replicaId: string): boolean {
  return action.kind === "place_replica" && action.replicaId === replicaId;
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

/** The snapshot with a drain open on each target; one that is draining already keeps its own. */
function withDrains(snapshot: ClusterSnapshot, targets: readonly DrainTarget[], deadlineAtMs: number): ClusterSnapshot {
  const open = snapshot.drains.filter((drain) => drain.endedAtMs === null);
  const added = targets.flatMap((target, index): readonly Drain[] => {
    if (open.some((drain) => isSame(drain, target))) return [];
    const { nodeId, gpuUuid, replica } = target;
    const base = { forcedAtMs: null, forcedBy: null, endedAtMs: null, result: null, losses: [] };
    const said = { by: "this preview", reason: "preview", startedAtMs: snapshot.nowMs, deadlineAtMs };
    return [{ id: `preview ${index}`, nodeId, gpuUuid, replica, ...said, ...base }];
  });
  return {
    ...snapshot,
    drains: [...snapshot.drains, ...added],
    nodes: snapshot.nodes.map((node) => {
      const mine = added.filter((drain) => drain.nodeId === node.id && drain.replica === null);
      return mine.length === 0 ? node : { ...node, cordons: [...node.cordons, ...mine.map(cordonOf)] };
    }),
    models: snapshot.models.map((model) => ({
      ...model,
      spec: { ...model.spec, update: { ...model.spec.update, maxSurge: allAtOnce } },
    })),
  };
}

function isSame(drain: DrainTarget, target: DrainTarget): boolean {
  return drain.nodeId === target.nodeId && drain.gpuUuid === target.gpuUuid && drain.replica?.id === target.replica?.id;
}

function cordonOf({ id, nodeId, gpuUuid, startedAtMs }: Drain): Cordon {
  const said = { owner: "drain", by: "this preview", reason: "preview" } as const;
  return { id, nodeId, gpuUuid, ...said, sinceMs: startedAtMs, drainId: id };
}

function isHere(replica: Replica, targets: readonly DrainTarget[]): boolean {
  const runs = replica.phase === "starting" || replica.phase === "serving" || replica.phase === "moving";
  const covered = (shard: Replica["shards"][number]): boolean =>
    shard.releasedAtMs === null && targets.some((target) => drainCovers(target, shard));
  return runs && replica.shards.some(covered);
}
