import { startedModel } from "../cluster/model.ts";
import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";
import { countServing } from "./leaving.ts";
import type { PreviewedMove } from "./preview-drain.ts";
import { expectedMoveMs, surgeNeeded } from "./surge.ts";

/** How many replicas of a model take requests: before, and at the lowest point if nothing but the drain happens. */
export interface PreviewedModel {
  readonly modelId: string;
  readonly desired: number;
  readonly servingBefore: number;
  readonly servingLowest: number;
  /** Replicas of it that move, and how many of them at a time: the surge that the grace makes necessary. */
  readonly moves: number;
  readonly surge: number;
  readonly maxSurge: number;
  /** How long one move is expected to take, and all of them, ms. */
  readonly moveMs: number;
  readonly neededMs: number;
  /** A grace within which the moves end without raising the surge. */
  readonly sufficientGraceMs: number;
}

/** What a drain means for each model that it touches, by id. */
export function previewModels(
  moves: readonly PreviewedMove[],
  about: { readonly snapshot: ClusterSnapshot; readonly settings: ControlSettings; readonly graceMs: number },
): readonly PreviewedModel[] {
  const { snapshot, settings, graceMs } = about;
  const ids = [...new Set(moves.map((move) => move.modelId))].sort((a, b) => (a < b ? -1 : 1));
  return ids.map((modelId) => {
    const mine = moves.filter((move) => move.modelId === modelId);
    const found = snapshot.models.find((model) => model.id === modelId);
    const model = found === undefined ? undefined : startedModel(found);
    const servingBefore = countServing(snapshot.replicas.filter((replica) => replica.modelId === modelId));
    const stuck = mine.filter((move) => move.outcome === "waits" || move.outcome === "cannot_move").length;
    const count = mine.filter((move) => move.outcome === "moves").length;
    const moveMs = model === undefined ? 0 : expectedMoveMs(model, settings);
    const maxSurge = model?.spec.update.maxSurge ?? 1;
    const needed = surgeNeeded(new Array<number>(count).fill(graceMs), moveMs);
    const surge = Math.min(Math.max(maxSurge, needed), Math.max(count, maxSurge));
    return {
      modelId,
      desired: model === undefined || model.deletedAtMs !== null ? 0 : model.spec.replicas,
      servingBefore,
      servingLowest: servingBefore - stuck,
      moves: count,
      surge,
      maxSurge,
      moveMs,
      neededMs: Math.ceil(count / surge) * moveMs,
      sufficientGraceMs: Math.ceil(count / maxSurge) * moveMs,
    };
  });
}
