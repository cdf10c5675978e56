import type { Action, ControlSettings } from "@llmgw/domain";
import type { Database } from "../database.ts";
import type { HeldLease } from "../lease.ts";
import { type Write, write } from "../write.ts";
import { changeCordon, setRollout } from "./cluster-actions.ts";
import { endDrain, setMove } from "./drain-actions.ts";
import { placeReplica } from "./place-replica.ts";
import { createReplica, explainPending, offerEndpoint, setPhase, setProof } from "./replica-actions.ts";
import { recordFailure, releaseShard, stopShard } from "./shard-actions.ts";

/** What became of one action. `dropped`: what it relied on had changed, nothing was written, the next pass decides anew. */
export type Committed =
  | { readonly kind: "committed" }
  | { readonly kind: "dropped"; readonly why: string }
  /** This admin does not hold the lease any more. */
  | { readonly kind: "fenced" };

/** Null when it was done, else what had changed in words for the log. */
export type Guarded = string | null;

export interface CommitDependencies {
  readonly database: Database;
  readonly settings: ControlSettings;
}

/**
 * Commits one decision of the control loop in one transaction: under the writer lock it re-checks what the decision
 * relied on, writes it with its audit row, and lets the version grow if agents or routers have to hear of it.
 */
export async function commitAction(
  dependencies: CommitDependencies,
  action: Action,
  lease: HeldLease,
): Promise<Committed> {
  const written = await write(
    dependencies.database,
    (transaction) => carryOut(transaction, action, { settings: dependencies.settings, lease }),
    lease,
  );
  if (written.kind === "fenced") return { kind: "fenced" };
  return written.value === null ? { kind: "committed" } : { kind: "dropped", why: written.value };
}

export interface CommitContext {
  readonly settings: ControlSettings;
  readonly lease: HeldLease;
}

function carryOut(write: Write, action: Action, context: CommitContext): Promise<Guarded> {
  switch (action.kind) {
    case "create_replica":
      return createReplica(write, action);
    case "place_replica":
      return placeReplica(write, action, context);
    case "explain_pending":
      return explainPending(write, action);
    case "set_phase":
      return setPhase(write, action);
    case "offer_endpoint":
      return offerEndpoint(write, action);
    case "set_proof":
      return setProof(write, action);
    case "record_failure":
      return recordFailure(write, action);
    case "stop_shard":
      return stopShard(write, action);
    case "release_shard":
      return releaseShard(write, action);
    case "set_move":
      return setMove(write, action);
    case "end_drain":
      return endDrain(write, action);
    case "set_cordon":
    case "lift_cordon":
      return changeCordon(write, action);
    case "set_rollout":
      return setRollout(write, action);
  }
}
