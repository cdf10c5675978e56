import type { FailureCategory } from "../cluster/shard.ts";

/**
 * Parameters of every reason, by code. A reason travels as code + parameters and becomes words in one place
 * (`describeReason`), so the dashboard, ctl, the audit and metrics say the same. Renaming a code is a breaking change.
 */
export interface ReasonParams {
  // Placement: a node or a GPU is not taken.
  node_not_pinned: { node: string; pinned: string };
  node_label_mismatch: { node: string; label: string; found: string; need: string };
  node_pool_mismatch: { node: string; found: string; need: string };
  node_simulated_mismatch: { node: string };
  node_cordoned: { node: string; owner: string; by: string; why: string; sinceMs: number };
  node_draining: { node: string; by: string; sinceMs: number };
  node_excluded: { node: string };
  node_suspect: { node: string; silentMs: number };
  node_lost: { node: string; silentMs: number };
  node_never_seen: { node: string };
  engine_not_runnable: { node: string; engine: string; found: string };
  source_absent: { node: string; source: string };
  too_few_gpus: { node: string; found: number; need: number };
  gpu_types_differ: { node: string; found: string; need: number };
  gpu_not_pinned: { gpu: string };
  gpu_cordoned: { gpu: string; by: string; why: string; sinceMs: number };
  gpu_memory_short: { gpu: string; freeMib: number; needMib: number; heldBy: string };
  gpu_memory_unknown: { gpu: string; found: string };
  gpu_held: { gpu: string; heldBy: string };
  /** `found` GPUs of one type have `needMib` free, `need` are needed; `heldBy` names who holds the others. */
  too_few_free_gpus: { node: string; found: number; need: number; needMib: number; heldBy: string };
  node_gone: { node: string };
  gpu_gone: { gpu: string };
  /** `nearest` is the nearest candidate's reason in English; `nearestReason` is the reason itself, for other languages. */
  no_fit: { model: string; nodes: number; nearest: string; nearestReason?: Reason };
  no_nodes: { model: string };
  // GPU health.
  gpu_xid: { gpu: string; xid: number; meaning: string };
  gpu_lost: { gpu: string };
  gpu_ecc: { gpu: string; errors: number };
  gpu_mig_enabled: { gpu: string };
  gpu_recovery: { gpu: string; action: string };
  gpu_unreadable: { gpu: string; what: string };
  gpu_missing: { gpu: string; sinceMs: number };
  gpu_duplicate: { gpu: string; holder: string };
  gpu_probe_failed: { node: string; why: string };
  // Replicas.
  awaiting_agent: { node: string };
  awaiting_engine: { node: string; message: string };
  awaiting_routers: { routers: string };
  start_failed: { node: string; category: FailureCategory; cause: string };
  backing_off: { node: string; failures: number; untilMs: number; cause: string };
  bad_configuration: { cause: string };
  engine_exited: { node: string; category: FailureCategory; cause: string };
  load_timed_out: { node: string; afterMs: number };
  moving_for_drain: { node: string; by: string };
  moving_for_node_lost: { node: string; silentMs: number };
  moving_for_gpu: { node: string; gpu: string; why: string };
  moving_for_rollout: { model: string; from: number; to: number };
  moving_for_replica_drain: { by: string };
  moving_for_gpu_drain: { node: string; gpu: string; by: string };
  draining_inflight: { inflight: number; routers: number };
  /** -1: the engine's count is not known. */
  draining_engine_busy: { running: number; waiting: number };
  awaiting_router_ack: { routers: string };
  router_may_still_send: { routers: string };
  stopping_process: { node: string; pid: number };
  stuck_process: { node: string; pid: number };
  node_unreachable: { node: string; silentMs: number };
  scaled_down: { from: number; to: number };
  model_deleted: { model: string };
  drained_away: { node: string };
  // Drains.
  queued_behind: { model: string; inUse: number; maxSurge: number };
  waits_for_capacity: { nearest: string; deadlineMs: number; nearestReason?: Reason };
  replacement_failing: { replica: string; node: string; cause: string };
  /** Moving it now would leave fewer than `desired` serving: another replica of the model does not serve. */
  kept_for_count: { model: string; serving: number; desired: number };
  proving_replacement: { replica: string; forMs: number; needMs: number };
  stopped_at_deadline: { deadlineMs: number };
  stopped_by_force: { by: string };
  /** A rollout of a model that says `whenFull: replace` found no room beside what runs. */
  stopped_for_room: { model: string; nearest: string };
  /** A move to another revision is over: the replica of the new one serves. */
  replaced_by_revision: { model: string; revision: number };
  engine_count_disagreed: { running: number; waiting: number };
  loss_no_replacement: { model: string };
  loss_node_lost: { node: string };
  loss_stuck_process: { node: string; pid: number };
  // Nodes as a whole.
  node_flapping: { node: string; returns: number; withinMs: number };
  node_black_hole: { node: string; failures: number; models: string; withinMs: number };
  // Rollouts.
  rollout_starts_failed: { model: string; revision: number; failures: number; node: string; cause: string };
  rollout_not_reached: { model: string; revision: number; replica: string; forMs: number; routers: string };
}

export type ReasonCode = keyof ReasonParams;

export type ReasonOf<C extends ReasonCode> = { readonly code: C; readonly params: Readonly<ReasonParams[C]> };

/** Why something is as it is: a code of the catalogue and its parameters. */
export type Reason = { [C in ReasonCode]: ReasonOf<C> }[ReasonCode];

/** Builds a reason; the compiler checks that the parameters belong to the code. */
export function reason<C extends ReasonCode>(code: C, params: ReasonParams[C]): ReasonOf<C> {
  return { code, params };
}
