import type { Reason } from "../reasons/reason.ts";
import type { Shard } from "./shard.ts";

export const replicaPhases = [
  "pending",
  "starting",
  "serving",
  "moving",
  "draining",
  "stopping",
  "stopped",
  "failed",
  "lost",
  "orphan",
] as const;

/**
 * `moving`: it has to go but still serves, because its replacement does not yet. `draining`: no new requests, those in
 * flight finish. `orphan` replicas are not in the database; they are shown from agents' reports.
 */
export type ReplicaPhase = (typeof replicaPhases)[number];

export interface Replica {
  readonly id: string;
  readonly modelId: string;
  readonly modelRevision: number;
  /** Grows with each start; 0 while it has never been placed. */
  readonly generation: number;
  readonly phase: ReplicaPhase;
  readonly phaseSinceMs: number;
  readonly createdAtMs: number;
  /** Why it is in this phase (pending, failed, lost, moving …), null where the phase says all. */
  readonly reason: Reason | null;
  /** The original that this replica replaces in a move. */
  readonly replaces: string | null;
  /** The drain that moves it away. */
  readonly drainId: string | null;
  /**
   * The table version that gave it its present place in routing; a router's word on it counts only from a report whose
   * applied version is at least this.
   */
  readonly stateVersion: number;
  /** Where its head answers, as routers were told; null while it is not in their table. */
  readonly url: string | null;
  /** Since when it has been in the routers' endpoint table for this generation; null while it is not. */
  readonly offeredAtMs: number | null;
  /** Since when the proof of serving has held without a break; null while it does not. */
  readonly provenSinceMs: number | null;
  /** Since when all routers have reported 0 in flight while draining; null while they have not. */
  readonly routersQuietSinceMs: number | null;
  /** Failed starts since it last served for 10 minutes, newest last. */
  readonly failures: readonly { readonly atMs: number; readonly nodeId: string }[];
  /** Not started again before this instant (crash back-off). */
  readonly notBeforeMs: number | null;
  /** Shards of every generation that are not released yet, and the present generation's. */
  readonly shards: readonly Shard[];
}
