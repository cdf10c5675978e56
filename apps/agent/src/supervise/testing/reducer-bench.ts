import type { AgentSyncAnswer, ShardLaunch, ShardStop } from "@llmgw/wire";
import type { AgentEvent, ExitFacts } from "../event.ts";
import { type Reduction, reduce } from "../reduce.ts";
import { type AgentState, defaultSuperviseSettings, nothingDesired, type ShardState } from "../shard-state.ts";

/** An order to run one shard, as the control plane sends it. */
export function launchOf(change: Partial<ShardLaunch> = {}): ShardLaunch {
  return {
    replicaId: "demo-abcde",
    generation: 1,
    rank: 0,
    modelId: "demo",
    aliases: [],
    engine: { name: "sim", args: [], env: {} },
    source: { kind: "hub", repo: "demo/model" },
    gpuUuids: [],
    memoryMibPerGpu: 1024,
    contextTokens: null,
    tp: 1,
    pp: 1,
    group: null,
    load: { maxMs: 60_000, stallMs: 10_000 },
    apiKey: "sk-replica-key",
    quietSinceVersion: null,
    ...change,
  };
}

export function stopOf({ replicaId, generation, rank }: ShardLaunch, killAfterMs = 5_000): ShardStop {
  return { replicaId, generation, rank, killAfterMs };
}

export interface DesiredChange {
  readonly clusterId?: string;
  readonly run?: readonly ShardLaunch[];
  readonly stop?: readonly ShardStop[];
}

export function desiredAnswer(version: number, change: DesiredChange = {}): AgentSyncAnswer {
  return {
    kind: "desired",
    protocol: 1,
    clusterId: change.clusterId ?? "cluster_1",
    version,
    run: [...(change.run ?? [])],
    stop: [...(change.stop ?? [])],
    logs: [],
    pollAfterMs: 1_000,
  };
}

export const crashFacts: ExitFacts = {
  code: 1,
  signal: null,
  category: "crash",
  cause: "It ended with exit code 1",
  hint: null,
  tail: ["last words"],
};

/** Drives the reducer by hand: events in, commands out, time moved by the test. */
export class ReducerBench {
  state: AgentState = { desired: nothingDesired, shards: new Map(), hold: null };
  nowMs = 1_000;

  send(event: AgentEvent): Reduction {
    const context = { nowMs: this.nowMs, settings: defaultSuperviseSettings };
    const reduction = reduce(this.state, event, context);
    this.state = reduction.state;
    return reduction;
  }

  answer(answer: AgentSyncAnswer, reportedExited: readonly string[] = []): Reduction {
    return this.send({ kind: "answer", answer, reportedExited });
  }

  /** Moves time and ticks. */
  after(ms: number): Reduction {
    this.nowMs += ms;
    return this.send({ kind: "tick" });
  }

  spawned(id: string, port = 18_000): Reduction {
    const process = { pid: 4242, host: "127.0.0.1", port, startedAtMs: this.nowMs };
    return this.send({ kind: "spawned", id, process });
  }

  shard(id: string): ShardState {
    const shard = this.state.shards.get(id);
    if (shard === undefined) throw new Error(`no shard ${id}`);
    return shard;
  }
}
