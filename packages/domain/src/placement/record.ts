import type { Reason } from "../reasons/reason.ts";

/** The filter rules in the order they are tried; explain runs all of them. */
export const placementRules = [
  "labels",
  "cordon",
  "liveness",
  "gpu_health",
  "engine",
  "source",
  "gpu_count",
  "same_type",
  "memory",
] as const;
export type PlacementRule = (typeof placementRules)[number];

/** One rule's outcome. A failed one carries its numbers in `reason`. */
export type RuleResult =
  | { readonly rule: PlacementRule; readonly pass: true }
  | { readonly rule: PlacementRule; readonly pass: false; readonly reason: Reason };

/** Who holds memory of a GPU: a shard of ours, or a process that is not. */
export interface GpuHolder {
  readonly kind: "shard" | "process" | "reserve";
  readonly id: string;
  readonly mib: number;
}

export interface GpuCandidate {
  readonly uuid: string;
  readonly index: number;
  readonly accepted: boolean;
  readonly chosen: boolean;
  readonly freeMib: number | null;
  readonly totalMib: number | null;
  readonly holders: readonly GpuHolder[];
  readonly results: readonly RuleResult[];
}

export interface ScorePart {
  readonly name: string;
  readonly weight: number;
  /** 0..1, before the weight. */
  readonly value: number;
  readonly points: number;
  readonly words: string;
}

export interface NodeCandidate {
  readonly nodeId: string;
  readonly nodeName: string;
  readonly accepted: boolean;
  /** The first rule, in order, that the node failed; null when accepted. */
  readonly firstFailed: PlacementRule | null;
  readonly results: readonly RuleResult[];
  readonly gpus: readonly GpuCandidate[];
  readonly scoreParts: readonly ScorePart[];
  readonly score: number | null;
}

export interface ShardPlacement {
  readonly rank: number;
  readonly nodeId: string;
  readonly gpuUuids: readonly string[];
  readonly memoryMibPerGpu: number;
}

export type PlacementOutcome =
  | {
      readonly kind: "placed";
      readonly shards: readonly ShardPlacement[];
      readonly nodeName: string;
      readonly runnerUp: string | null;
    }
  | { readonly kind: "no_fit"; readonly reason: Reason };

/** The record of one placement decision: every candidate, why each was or was not taken, and what came of it. */
export interface PlacementRecord {
  readonly modelId: string;
  readonly replicaId: string | null;
  readonly snapshotVersion: number;
  readonly atMs: number;
  readonly need: {
    readonly gpus: number;
    readonly memoryMibPerGpu: number;
    readonly engine: string;
  };
  readonly candidates: readonly NodeCandidate[];
  readonly counts: { readonly nodes: number; readonly accepted: number };
  readonly outcome: PlacementOutcome;
}
