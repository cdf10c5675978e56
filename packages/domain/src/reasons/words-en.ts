import type { ReasonParams } from "./reason.ts";
import { gib, gibUp, type ReasonWords } from "./words.ts";

const seconds = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

const heldBy = (holders: string, prefix = ", "): string => (holders === "" ? "" : `${prefix}held by ${holders}`);

function memoryShort(p: Readonly<ReasonParams["gpu_memory_short"]>): string {
  const short = gibUp(p.needMib - p.freeMib);
  return `${p.gpu} has ${gib(p.freeMib)} free, needs ${gibUp(p.needMib)}: ${short} short${heldBy(p.heldBy)}`;
}

/** The words of every reason in English. */
export const english: ReasonWords = {
  node_not_pinned: (p) => `${p.node} is not among the nodes this model is pinned to (${p.pinned})`,
  node_label_mismatch: (p) =>
    p.found === ""
      ? `${p.node} has no label ${p.label}, ${p.label}=${p.need} is needed`
      : `${p.node} has ${p.label}=${p.found}, ${p.label}=${p.need} is needed`,
  node_pool_mismatch: (p) =>
    p.need === ""
      ? `${p.node} is kept for pool ${p.found}, and this model names no pool`
      : `${p.node} is in ${p.found === "" ? "no pool" : `pool ${p.found}`}, pool ${p.need} is needed`,
  node_simulated_mismatch: (p) => `${p.node} is simulated, and real and simulated nodes do not mix in one replica`,
  node_cordoned: (p) => `${p.node} is cordoned by ${p.by} (${p.owner}): ${p.why}`,
  node_draining: (p) => `${p.node} is draining, started by ${p.by}`,
  node_excluded: (p) => `${p.node} is left out of this decision`,
  node_suspect: (p) => `${p.node} has been silent for ${seconds(p.silentMs)}`,
  node_lost: (p) => `${p.node} is lost: silent for ${seconds(p.silentMs)}`,
  node_never_seen: (p) => `${p.node} has never reported`,
  engine_not_runnable: (p) => `${p.node} cannot run ${p.engine}; it has ${p.found === "" ? "no engine" : p.found}`,
  source_absent: (p) => `${p.node} does not have ${p.source}`,
  too_few_gpus: (p) => `${p.node} has ${counted(p.found, "GPU")}, needs ${p.need}`,
  gpu_types_differ: (p) => `${p.node} has no ${p.need} usable GPUs of one type (${p.found})`,
  gpu_not_pinned: (p) => `${p.gpu} is not among the GPUs this model is pinned to`,
  gpu_cordoned: (p) => `${p.gpu} is cordoned by ${p.by}: ${p.why}`,
  gpu_memory_short: memoryShort,
  gpu_memory_unknown: (p) =>
    `the free memory of ${p.gpu} is ${p.found === "unsupported" ? "not reported" : "unreadable"}`,
  gpu_held: (p) => `${p.gpu} is held by ${p.heldBy}`,
  too_few_free_gpus: (p) =>
    `${p.node} has ${counted(p.found, "GPU")} of one type with ${gibUp(p.needMib)} free, needs ${p.need}${heldBy(p.heldBy, "; others are ")}`,
  node_gone: (p) => `${p.node} is not in the cluster any more`,
  gpu_gone: (p) => `${p.gpu} is not in its node any more`,
  no_fit: (p) => `no node fits ${p.model}: ${p.nodes} considered; nearest: ${p.nearest}`,
  no_nodes: (p) => `no node has joined yet, so ${p.model} has nowhere to run`,
  gpu_xid: (p) => `${p.gpu}: Xid ${p.xid}, ${p.meaning}`,
  gpu_lost: (p) => `${p.gpu} is lost: the driver cannot reach it`,
  gpu_ecc: (p) => `${p.gpu} has ${counted(p.errors, "uncorrectable ECC error")} since the last reset`,
  gpu_mig_enabled: (p) => `${p.gpu} is split by MIG: the whole card cannot be used`,
  gpu_recovery: (p) => `the driver asks for "${p.action}" on ${p.gpu}`,
  gpu_unreadable: (p) => `${p.what} of ${p.gpu} cannot be read`,
  gpu_missing: (p) => `${p.gpu} was in this node and is not reported any more`,
  gpu_duplicate: (p) => `${p.gpu} is reported by ${p.holder} too`,
  gpu_probe_failed: (p) => `the GPU probe of ${p.node} failed: ${p.why}`,
  awaiting_agent: (p) => `waits for the agent of ${p.node}`,
  awaiting_engine: (p) => `the engine is loading on ${p.node}${p.message === "" ? "" : `: ${p.message}`}`,
  awaiting_routers: (p) => `ready; waits until these routers have reached it: ${p.routers}`,
  start_failed: (p) => `did not start on ${p.node} (${p.category}): ${p.cause}`,
  backing_off: (p) => `failed ${times(p.failures)}, last on ${p.node}: ${p.cause}; the next start waits`,
  bad_configuration: (p) => `the engine refuses its configuration: ${p.cause}`,
  engine_exited: (p) => `the engine on ${p.node} ended (${p.category}): ${p.cause}`,
  load_timed_out: (p) => `was not ready on ${p.node} within ${seconds(p.afterMs)}`,
  moving_for_drain: (p) => `moves off ${p.node}, drained by ${p.by}`,
  moving_for_node_lost: (p) => `${p.node} has been silent for ${seconds(p.silentMs)}; routers still reach the engine`,
  moving_for_gpu: (p) => `moves off ${p.gpu} of ${p.node}: ${p.why}`,
  moving_for_rollout: (p) => `moves to revision ${p.to} of ${p.model}, runs revision ${p.from}`,
  moving_for_replica_drain: (p) => `is drained by ${p.by}`,
  moving_for_gpu_drain: (p) => `moves off ${p.gpu} of ${p.node}, drained by ${p.by}`,
  draining_inflight: (p) => `${counted(p.inflight, "request")} in flight on ${counted(p.routers, "router")}`,
  draining_engine_busy: (p) =>
    p.running < 0
      ? "waits for the engine's own count to be 0 twice; it has not been read yet"
      : `waits for the engine's own count to be 0 twice: ${p.running} running, ${p.waiting} waiting`,
  awaiting_router_ack: (p) => `waits until these routers have applied the change: ${p.routers}`,
  router_may_still_send: (p) =>
    `these routers are silent and may still send: ${p.routers}; the engine's own count decides`,
  stopping_process: (p) => `waits until the process on ${p.node} (pid ${p.pid}) is gone`,
  stuck_process: (p) => `pid ${p.pid} on ${p.node} survives SIGKILL`,
  node_unreachable: (p) => `${p.node} is unreachable, silent for ${seconds(p.silentMs)}`,
  scaled_down: (p) => `scaled from ${p.from} to ${counted(p.to, "replica")}`,
  model_deleted: (p) => `${p.model} was deleted`,
  drained_away: (p) => `moved off ${p.node}`,
  queued_behind: (p) => `waits for a move slot of ${p.model}: ${p.inUse} of ${p.maxSurge} in use`,
  waits_for_capacity: (p) => `cannot move: ${p.nearest}`,
  replacement_failing: (p) => `its replacement ${p.replica} fails on ${p.node}: ${p.cause}`,
  kept_for_count: (p) =>
    `${p.model} has ${p.serving} serving with it and wants ${p.desired}; it stays until another replica serves`,
  proving_replacement: (p) => `its replacement ${p.replica} has served for ${seconds(p.forMs)} of ${seconds(p.needMs)}`,
  stopped_at_deadline: () => "the grace period ended with no replacement serving",
  stopped_by_force: (p) => `forced by ${p.by}`,
  stopped_for_room: (p) => `stopped to make room for the next revision of ${p.model}: ${p.nearest}`,
  replaced_by_revision: (p) => `replaced by revision ${p.revision} of ${p.model}`,
  engine_count_disagreed: (p) =>
    p.running < 0
      ? "routers were quiet; the engine's own count could not be read"
      : `routers were quiet while the engine still counted ${p.running} running, ${p.waiting} waiting`,
  loss_no_replacement: (p) => `${p.model} had no replacement serving`,
  loss_node_lost: (p) => `${p.node} went away before its processes were confirmed gone`,
  loss_stuck_process: (p) => `pid ${p.pid} on ${p.node} survived SIGKILL`,
  node_flapping: (p) => `${p.node} went silent and came back ${times(p.returns)} within ${seconds(p.withinMs)}`,
  node_black_hole: (p) =>
    `${counted(p.failures, "start")} of several models (${p.models}) failed on ${p.node} within ${seconds(p.withinMs)}`,
  rollout_starts_failed: (p) =>
    `revision ${p.revision} of ${p.model} failed to start ${times(p.failures)}, last on ${p.node}: ${p.cause}`,
  rollout_not_reached: (p) =>
    `${p.replica} of revision ${p.revision} of ${p.model} is ready, and these routers have not reached it for ${seconds(p.forMs)}: ${p.routers}`,
};
