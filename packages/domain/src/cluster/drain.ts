import type { Reason } from "../reasons/reason.ts";
import type { Shard } from "./shard.ts";

export type DrainResult = "complete" | "completeWithLosses" | "unconfirmed" | "cancelled" | "failed";

/** A replica that a drain ended without a replacement serving. */
export interface DrainLoss {
  readonly replicaId: string;
  readonly modelId: string;
  readonly reason: Reason;
}

/**
 * A drain of one node, of one GPU of it, or of one replica. Open while `endedAtMs` is null. Times are absolute, so
 * nothing's restart changes them.
 */
export interface Drain {
  readonly id: string;
  readonly nodeId: string;
  /** Only what runs on this GPU leaves; null: a drain of the whole node or of a replica. */
  readonly gpuUuid: string | null;
  /** Only this replica leaves, as it ran when that was asked; nothing is cordoned. */
  readonly replica: { readonly id: string; readonly generation: number } | null;
  readonly by: string;
  readonly reason: string;
  readonly startedAtMs: number;
  readonly deadlineAtMs: number;
  readonly forcedAtMs: number | null;
  readonly forcedBy: string | null;
  readonly endedAtMs: number | null;
  readonly result: DrainResult | null;
  readonly losses: readonly DrainLoss[];
}

export type DrainScope = "node" | "gpu" | "replica";

export function drainScope(drain: Pick<Drain, "gpuUuid" | "replica">): DrainScope {
  return drain.replica !== null ? "replica" : drain.gpuUuid !== null ? "gpu" : "node";
}

/** Does a shard have to go for this drain to end. */
export function drainCovers(
  drain: Pick<Drain, "nodeId" | "gpuUuid" | "replica">,
  shard: Pick<Shard, "replicaId" | "generation" | "nodeId" | "gpuUuids">,
): boolean {
  if (drain.replica !== null) {
    return shard.replicaId === drain.replica.id && shard.generation <= drain.replica.generation;
  }
  if (drain.gpuUuid !== null) return shard.gpuUuids.includes(drain.gpuUuid);
  return shard.nodeId === drain.nodeId;
}

export const moveSteps = [
  "queued",
  "placing",
  "loading",
  "replacementServing",
  "draining",
  "stopping",
  "stopped",
] as const;
/** The steps of a rolling move, in order. A replica that serves nothing goes from `queued` to `stopping` at once. */
export type MoveStep = (typeof moveSteps)[number];

/** One replica's way out of a drain. Kept after the drain as its record. */
export interface Move {
  readonly drainId: string;
  readonly replicaId: string;
  readonly replacementId: string | null;
  readonly step: MoveStep;
  /** When each step began; a step not reached has no entry. */
  readonly stepAtMs: Readonly<Partial<Record<MoveStep, number>>>;
  /** Why it waits, with numbers; null while it advances. */
  readonly reason: Reason | null;
  /** True when it was ended at the deadline or by force with no replacement serving. */
  readonly lost: boolean;
}
