import type { ShardObservation } from "@llmgw/domain";
import { hostPort } from "@llmgw/service";
import type { AgentState, RunningProcess, ShardState } from "./shard-state.ts";

/** What the agent reports of its shards. `nowMs` is the monotonic clock that the state's instants are of. */
export function observe(state: AgentState, nowMs: number): ShardObservation[] {
  return [...state.shards.values()].map((shard) => observation(shard, nowMs));
}

function observation(shard: ShardState, nowMs: number): ShardObservation {
  const { key, launch, process } = shard;
  const common = {
    ...key,
    pid: null,
    url: null,
    gpuUuids: launch?.gpuUuids ?? [],
    loadRatio: null,
    loadMessage: null,
    startedAgoMs: null,
    activity: null,
    exit: null,
  };
  switch (process.kind) {
    case "spawning":
      return { ...common, phase: "starting" };
    case "running":
      return {
        ...common,
        ...placeOf(process.process, key.rank, nowMs),
        phase: process.ready ? "ready" : "starting",
        loadRatio: process.load.ratio,
        loadMessage: process.healthProblem ?? process.load.message,
        activity: process.activity,
      };
    case "stopping":
    case "stuck":
      return { ...common, ...placeOf(process.process, key.rank, nowMs), phase: process.kind };
    case "exited":
      return { ...common, phase: "exited", exit: process.exit };
  }
}

function placeOf({ pid, host, port, startedAtMs }: RunningProcess, rank: number, nowMs: number) {
  return {
    pid,
    url: rank === 0 ? `http://${hostPort({ host, port })}` : null,
    startedAgoMs: Math.max(0, Math.round(nowMs - startedAtMs)),
  };
}
