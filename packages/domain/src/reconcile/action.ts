import type { DrainLoss, DrainResult, MoveStep } from "../cluster/drain.ts";
import type { Replica, ReplicaPhase } from "../cluster/replica.ts";
import type { ShardExit } from "../cluster/shard.ts";
import type { PlacementRecord, ShardPlacement } from "../placement/record.ts";
import type { Reason } from "../reasons/reason.ts";

/** The drain that caused an action, for the audit's chain of causes. */
interface Caused {
  readonly drainId: string | null;
}

/**
 * What the control loop decided. Each is committed in one transaction, in the order of the list, which re-checks what
 * it relied on (and the lease's epoch); an action whose checks fail is dropped, not retried: the next pass decides
 * anew. Dropping one never makes a later one of the same list wrong, since that one's own checks then fail too.
 *
 * `apply.ts` is the effect of every action as pure functions; a commit writes exactly that. Beside each kind below:
 * `check` is what must still hold, `write` what changes, and `version` whether the transaction takes the next version
 * (it changes what agents or routers are to do). A replica is locked by its row; GPUs by their live allocations.
 */
export type Action =
  /**
   * A new replica that waits for a place. Its id is `<model slug>-<5 × a-z2-7>`.
   * check: the id was never used; the model exists and is not deleted.
   * write: replica (phase pending, generation 0, `replaces`, `drainId`).
   * version: no.
   */
  | ({
      readonly kind: "create_replica";
      readonly replicaId: string;
      readonly modelId: string;
      readonly modelRevision: number;
      readonly replaces: string | null;
    } & Caused)
  /**
   * Pending or failed → starting, with these allocations.
   * check: phase and generation are `fromPhase`, `fromGeneration`; the model's revision is still `modelRevision` and it
   *   is not deleted; for each shard, under lock: its node has no cordon (nor the GPUs), no open drain and is live, the
   *   GPUs are schedulable, and they are free (no live allocation; with `shareGpu` only sharing ones, whose sum fits).
   * write: generation = fromGeneration + 1 = the shards' generation; shard and allocation rows; phase starting, since
   *   now; reason null; model revision; notBefore, offeredAt, provenSince, routersQuietSince null; the record.
   * version: yes; it is also the replica's `stateVersion`.
   */
  | ({
      readonly kind: "place_replica";
      readonly replicaId: string;
      readonly fromPhase: ReplicaPhase;
      readonly fromGeneration: number;
      readonly modelRevision: number;
      readonly shards: readonly ShardPlacement[];
      readonly record: PlacementRecord;
    } & Caused)
  /**
   * A pending replica's reasons changed.
   * check: phase pending. write: reason, record. version: no.
   */
  | ({
      readonly kind: "explain_pending";
      readonly replicaId: string;
      readonly reason: Reason;
      readonly record: PlacementRecord;
    } & Caused)
  /**
   * A change of phase.
   * check: phase is `from`, generation is `generation`. Where `to` is `stopped`: no shard of it is unreleased.
   * write: phase `to`, since now; `reason`; `drainId`; `notBeforeMs` and `failures` where given (absent: unchanged).
   *   offeredAt, url: null unless `to` is starting, serving, moving or draining; now where it is null and `to` is serving,
   *   moving or draining. provenSince: null unless `to` is serving or moving. routersQuietSince: null.
   *   From starting to serving: the model remembers how long that took (`withLoadTime`).
   * version: exactly when `routing` is true (its place in the endpoint table changes, or it starts or ends to drain);
   *   that version is its new `stateVersion`, so that routers' and agents' words of before do not count for the change.
   */
  | ({
      readonly kind: "set_phase";
      readonly replicaId: string;
      readonly generation: number;
      readonly from: ReplicaPhase;
      readonly to: ReplicaPhase;
      readonly reason: Reason | null;
      readonly routing: boolean;
      readonly notBeforeMs?: number | null;
      readonly failures?: Replica["failures"];
    } & Caused)
  /**
   * The head is ready: it enters the endpoint table (state serving) so that routers can prove it; the phase stays. Or its
   * address has changed: routers have to prove the new one.
   * check: generation; phase starting, or offered already with another address.
   * write: offeredAt now where it is null; url; provenSince, routersQuietSince null.
   * version: yes; it is the new `stateVersion`.
   */
  | ({
      readonly kind: "offer_endpoint";
      readonly replicaId: string;
      readonly generation: number;
      readonly url: string;
    } & Caused)
  /**
   * What routers and agents prove of a replica has changed.
   * check: generation. write: provenSince, routersQuietSince. version: no (nobody has to act on it).
   */
  | ({
      readonly kind: "set_proof";
      readonly replicaId: string;
      readonly generation: number;
      readonly provenSinceMs: number | null;
      readonly routersQuietSinceMs: number | null;
    } & Caused)
  /**
   * An engine ended by itself: keep how (the first and the latest end per shard). The replica's own list of failures
   * travels in the `set_phase` that follows.
   * check: the shard exists and is unreleased. write: shard failure rows `first` (once) and `latest`. version: no.
   */
  | ({
      readonly kind: "record_failure";
      readonly replicaId: string;
      readonly generation: number;
      readonly rank: number;
      readonly nodeId: string;
      readonly exit: ShardExit;
    } & Caused)
  /**
   * Tell the agent to stop this shard: from now on it is in `stop`, and no longer in `run`.
   * check: the shard is unreleased and not asked to stop yet. write: stopRequestedAt now. version: yes.
   */
  | ({
      readonly kind: "stop_shard";
      readonly replicaId: string;
      readonly generation: number;
      readonly rank: number;
    } & Caused)
  /**
   * The agent confirmed that the shard's process group is gone.
   * check: the shard is unreleased. write: releasedAt now on the shard and its allocations: its GPUs are free.
   * version: yes (the agent may forget it).
   */
  | ({
      readonly kind: "release_shard";
      readonly replicaId: string;
      readonly generation: number;
      readonly rank: number;
    } & Caused)
  /**
   * A step of a move, or why it waits. Steps may be skipped, never repeated, except that a move whose replacement
   * failed goes back.
   * check: the drain is open. write: the move's row (upsert): step, replacementId, reason, lost; `stepAt[step]` = now
   *   when the step changed. version: no.
   */
  | {
      readonly kind: "set_move";
      readonly drainId: string;
      readonly replicaId: string;
      readonly step: MoveStep;
      readonly replacementId: string | null;
      readonly reason: Reason | null;
      readonly lost: boolean;
    }
  /**
   * check: the drain is open; unless the result is `unconfirmed` or `failed`: no unreleased shard that it covers.
   * write: endedAt now, result, losses. The cordon stays: it is what makes the node `drained`.
   * version: yes (availability is part of every snapshot).
   */
  | {
      readonly kind: "end_drain";
      readonly drainId: string;
      readonly result: DrainResult;
      readonly losses: readonly DrainLoss[];
    }
  /**
   * The control plane itself keeps new work away from a node.
   * check: the node exists and has no cordon of this owner. write: the cordon, by `system`, with the reason in words.
   * version: yes (availability is part of every snapshot).
   */
  | {
      readonly kind: "set_cordon";
      readonly nodeId: string;
      readonly owner: "health" | "flapping";
      readonly reason: Reason;
    }
  /** Its cause is over. check: the cordon exists. write: it is gone. version: yes. */
  | { readonly kind: "lift_cordon"; readonly nodeId: string; readonly owner: "health" | "flapping" }
  /**
   * A rollout is complete (`failure` null), or is paused as failed.
   * check: the model is at `revision`, has a rollout, and that one is not paused. write: rollout null, or its failedAt
   *   now and reason. version: yes (what is started from now on changes).
   */
  | {
      readonly kind: "set_rollout";
      readonly modelId: string;
      readonly revision: number;
      readonly failure: Reason | null;
    };

/** Whether committing this action takes the next version (see the kinds). */
export function takesVersion(action: Action): boolean {
  switch (action.kind) {
    case "place_replica":
    case "offer_endpoint":
    case "stop_shard":
    case "release_shard":
    case "end_drain":
    case "set_cordon":
    case "lift_cordon":
    case "set_rollout":
      return true;
    case "set_phase":
      return action.routing;
    case "create_replica":
    case "explain_pending":
    case "set_proof":
    case "record_failure":
    case "set_move":
      return false;
  }
}
