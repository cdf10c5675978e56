import type { DrainLoss, DrainResult, MoveStep } from "../cluster/drain.ts";
import type { ReplicaPhase } from "../cluster/replica.ts";
import type { ShardExit } from "../cluster/shard.ts";
import type { PlacementRecord, ShardPlacement } from "../placement/record.ts";
import type { Reason } from "../reasons/reason.ts";

/** The drain that caused an action, for the audit's chain of causes. */
interface Caused {
  readonly drainId: string | null;
}

/**
 * What the control loop decided. Each is committed in one transaction that re-checks what it relied on (phase and
 * generation of the replica, cordons, free memory, the lease's epoch) and is dropped, not retried, when that changed:
 * the next pass decides anew.
 */
export type Action =
  /** A new replica that waits for a place. Its id is `<model slug>-<5 × a-z2-7>`. */
  | ({
      readonly kind: "create_replica";
      readonly replicaId: string;
      readonly modelId: string;
      readonly modelRevision: number;
      readonly replaces: string | null;
    } & Caused)
  /** Pending or failed → starting, generation + 1, with these allocations. */
  | ({
      readonly kind: "place_replica";
      readonly replicaId: string;
      readonly fromPhase: ReplicaPhase;
      readonly fromGeneration: number;
      readonly shards: readonly ShardPlacement[];
      readonly record: PlacementRecord;
    } & Caused)
  /** A pending replica's reasons changed: store the record. */
  | ({
      readonly kind: "explain_pending";
      readonly replicaId: string;
      readonly reason: Reason;
      readonly record: PlacementRecord;
    } & Caused)
  /** A change of phase. `routing`: its place in the endpoint table changes, so the version that this gets is its proof's. */
  | ({
      readonly kind: "set_phase";
      readonly replicaId: string;
      readonly generation: number;
      readonly from: ReplicaPhase;
      readonly to: ReplicaPhase;
      readonly reason: Reason | null;
      readonly routing: boolean;
      readonly notBeforeMs?: number | null;
    } & Caused)
  /** The head is ready: it enters the endpoint table (state serving) so that routers can prove it; phase stays. */
  | ({ readonly kind: "offer_endpoint"; readonly replicaId: string; readonly generation: number } & Caused)
  | ({
      readonly kind: "set_proof";
      readonly replicaId: string;
      readonly generation: number;
      readonly provenSinceMs: number | null;
      readonly routersQuietSinceMs: number | null;
    } & Caused)
  /** An engine ended by itself: keep it (first and latest per shard). */
  | ({
      readonly kind: "record_failure";
      readonly replicaId: string;
      readonly generation: number;
      readonly rank: number;
      readonly nodeId: string;
      readonly exit: ShardExit;
    } & Caused)
  /** Tell the agent to stop this shard (it enters `stop`). */
  | ({
      readonly kind: "stop_shard";
      readonly replicaId: string;
      readonly generation: number;
      readonly rank: number;
    } & Caused)
  /** The agent confirmed that the shard's process group is gone: its GPUs are free. */
  | ({
      readonly kind: "release_shard";
      readonly replicaId: string;
      readonly generation: number;
      readonly rank: number;
    } & Caused)
  | {
      readonly kind: "set_move";
      readonly drainId: string;
      readonly replicaId: string;
      readonly step: MoveStep;
      readonly replacementId: string | null;
      readonly reason: Reason | null;
      readonly lost: boolean;
    }
  | {
      readonly kind: "end_drain";
      readonly drainId: string;
      readonly result: DrainResult;
      readonly losses: readonly DrainLoss[];
    };
