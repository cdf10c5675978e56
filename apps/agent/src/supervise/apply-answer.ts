import type { AgentSyncAnswer, ShardLaunch, ShardStop } from "@llmgw/wire";
import type { AgentCommand, AgentEvent } from "./event.ts";
import type { ReduceContext, Reduction } from "./reduce.ts";
import { type AgentState, type DesiredState, type ShardState, shardId } from "./shard-state.ts";
import { stopShard } from "./stop-shard.ts";

/**
 * An answer of the control plane. One of another cluster, or older than what this agent has carried out, is not applied:
 * everything stays as it is, and `hold` says why.
 */
export function applyAnswer(
  state: AgentState,
  { answer, reportedExited }: Extract<AgentEvent, { kind: "answer" }>,
  context: ReduceContext,
): Reduction {
  const hold = refusal(state, answer);
  if (hold !== null) return { state: { ...state, hold }, commands: [], urgent: false };
  if (answer.kind === "unchanged") {
    return { state: state.hold === null ? state : { ...state, hold: null }, commands: [], urgent: false };
  }
  const { clusterId, version, run, stop } = answer;
  const applied = applyDesired({ ...state, hold: null }, { clusterId, version, run, stop }, context);
  return forgetReported(applied, reportedExited, [...run, ...stop].map(shardId));
}

function refusal({ desired }: AgentState, answer: AgentSyncAnswer): string | null {
  if (desired.clusterId !== null && answer.clusterId !== desired.clusterId) {
    return `the admin answers for cluster ${answer.clusterId}, this node belongs to ${desired.clusterId}: nothing is changed`;
  }
  if (answer.kind === "desired" && answer.version < desired.version) {
    return `the admin answers with version ${answer.version}, this node has carried out ${desired.version}: nothing is changed`;
  }
  return null;
}

/**
 * Makes the shards follow a desired state: starts what is new in `run`, ends what `stop` names, and leaves everything
 * else alone. What has exited is never started again: that is the control plane's decision, by a new generation.
 */
export function applyDesired(state: AgentState, desired: DesiredState, context: ReduceContext): Reduction {
  const shards = new Map(state.shards);
  const commands: AgentCommand[] = [];
  let urgent = false;
  const stops = new Set(desired.stop.map(shardId));
  for (const launch of desired.run) {
    const id = shardId(launch);
    if (stops.has(id)) continue;
    const known = shards.get(id);
    if (known === undefined) commands.push({ kind: "spawn", id, launch, attempt: 1 });
    shards.set(id, known === undefined ? starting(launch) : relaunched(known, launch));
  }
  for (const order of desired.stop) {
    const id = shardId(order);
    const known = shards.get(id);
    const stopped =
      known === undefined
        ? { shard: neverHere(order), commands: [], urgent: true }
        : stopShard(known, { cause: { kind: "asked" }, killAfterMs: order.killAfterMs }, context);
    shards.set(id, stopped.shard);
    commands.push(...stopped.commands);
    urgent ||= stopped.urgent;
  }
  return { state: { ...state, desired, shards }, commands, urgent };
}

function starting(launch: ShardLaunch): ShardState {
  const { replicaId, generation, rank } = launch;
  return { key: { replicaId, generation, rank }, launch, process: { kind: "spawning", attempt: 1, stop: null } };
}

/** The same start with its newest order: only `quietSinceVersion` may differ. Idle reads of another drain are dropped. */
function relaunched(shard: ShardState, launch: ShardLaunch): ShardState {
  const { process } = shard;
  // Answers repeat the whole desired state: an order that says nothing new is no change.
  if (JSON.stringify(shard.launch) === JSON.stringify(launch)) return shard;
  const isSameDrain = shard.launch?.quietSinceVersion === launch.quietSinceVersion;
  if (process.kind !== "running" || isSameDrain) return { ...shard, launch };
  return { ...shard, launch, process: { ...process, activity: null } };
}

/** The answer to an order to stop what this node does not run: it is as gone as it can be. */
function neverHere({ replicaId, generation, rank }: ShardStop): ShardState {
  return {
    key: { replicaId, generation, rank },
    launch: null,
    process: {
      kind: "exited",
      exit: {
        code: null,
        signal: null,
        category: "stopped",
        cause: "No process of this shard runs on this node.",
        hint: null,
        tail: [],
        asked: true,
        ranMs: 0,
      },
    },
  };
}

/** An exited shard that the answered report contained and the answer names no more has been taken note of. */
function forgetReported(applied: Reduction, reported: readonly string[], named: readonly string[]): Reduction {
  const keep = new Set(named);
  const ids = reported.filter((id) => !keep.has(id) && applied.state.shards.get(id)?.process.kind === "exited");
  if (ids.length === 0) return applied;
  const shards = new Map(applied.state.shards);
  for (const id of ids) shards.delete(id);
  const forgets = ids.map((id) => ({ kind: "forget", id }) as const);
  return { ...applied, state: { ...applied.state, shards }, commands: [...applied.commands, ...forgets] };
}
