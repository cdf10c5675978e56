import { applyAnswer, applyDesired } from "./apply-answer.ts";
import type { AgentCommand, AgentEvent } from "./event.ts";
import { exitOf } from "./exit-record.ts";
import type { AgentState, ShardState, SuperviseSettings } from "./shard-state.ts";
import { stopShard } from "./stop-shard.ts";
import { tick } from "./tick.ts";

export interface Reduction {
  readonly state: AgentState;
  readonly commands: readonly AgentCommand[];
  /** The control plane waits for this news: report it at once. */
  readonly urgent: boolean;
}

export interface ReduceContext {
  /** Monotonic, ms. */
  readonly nowMs: number;
  readonly settings: SuperviseSettings;
}

/** The supervisor's whole judgement: pure, so that the same code runs in simulations. */
export function reduce(state: AgentState, event: AgentEvent, context: ReduceContext): Reduction {
  switch (event.kind) {
    case "answer":
      return applyAnswer(state, event, context);
    case "resume":
      return applyDesired(state, state.desired, context);
    case "tick":
      return each(state, (shard) => tick(shard, context));
    case "stop_all":
      return each(state, (shard) =>
        stopShard(shard, { cause: { kind: "asked" }, killAfterMs: event.killAfterMs }, context),
      );
    default: {
      const shard = state.shards.get(event.id);
      if (shard === undefined) return { state, commands: [], urgent: false };
      return withShard(state, event.id, onShard(shard, event, context));
    }
  }
}

/** What happened to one shard: its next state, commands, and whether that is news. */
export interface ShardReduction {
  readonly shard: ShardState;
  readonly commands: readonly AgentCommand[];
  readonly urgent: boolean;
}

type ShardEvent = Extract<AgentEvent, { id: string }>;

function onShard(shard: ShardState, event: ShardEvent, context: ReduceContext): ShardReduction {
  const { process } = shard;
  switch (event.kind) {
    case "spawned":
      return onSpawned(shard, event, context);
    case "spawn_failed":
      return process.kind === "spawning" ? exited(shard, exitOf(shard, event.facts, context.nowMs)) : unchanged(shard);
    case "leader_ended": {
      if (process.kind === "stopping" || process.kind === "stuck" || process.kind === "exited") return unchanged(shard);
      const cause = { kind: "ended", code: event.code, signal: event.signal } as const;
      return stopShard(shard, { cause, killAfterMs: context.settings.ownKillAfterMs }, context);
    }
    case "gone":
      return onGone(shard, event, context);
    default:
      return process.kind === "running" ? onRunning({ ...shard, process }, event, context) : unchanged(shard);
  }
}

function onSpawned(
  shard: ShardState,
  event: Extract<ShardEvent, { kind: "spawned" }>,
  context: ReduceContext,
): ShardReduction {
  const { process } = shard;
  if (process.kind !== "spawning") return unchanged(shard);
  const running: ShardState = {
    ...shard,
    process: {
      kind: "running",
      process: event.process,
      attempt: process.attempt,
      ready: false,
      load: { ratio: null, message: null, grewAtMs: context.nowMs },
      activity: null,
      healthProblem: null,
    },
  };
  if (process.stop === null) return { shard: running, commands: [], urgent: false };
  return stopShard(running, { cause: { kind: "asked" }, killAfterMs: process.stop.killAfterMs }, context);
}

function onGone(
  shard: ShardState,
  event: Extract<ShardEvent, { kind: "gone" }>,
  { nowMs, settings }: ReduceContext,
): ShardReduction {
  const { process, launch } = shard;
  if (process.kind === "exited" || process.kind === "spawning") return unchanged(shard);
  const mayRetry = process.kind === "running" && !process.ready && process.attempt < settings.portAttempts;
  if (mayRetry && event.facts.category === "port_in_use" && launch !== null) {
    const attempt = process.attempt + 1;
    const command = { kind: "spawn", id: event.id, launch, attempt } as const;
    return {
      shard: { ...shard, process: { kind: "spawning", attempt, stop: null } },
      commands: [command],
      urgent: false,
    };
  }
  return exited(shard, exitOf(shard, event.facts, nowMs));
}

type RunningShard = ShardState & { readonly process: Extract<ShardState["process"], { kind: "running" }> };
type RunningEvent = Extract<
  ShardEvent,
  { kind: "log_grew" | "ready" | "load_failed" | "serves_other" | "health" | "activity" }
>;

function onRunning(shard: RunningShard, event: RunningEvent, context: ReduceContext): ShardReduction {
  const { process, launch } = shard;
  const changed = (change: Partial<RunningShard["process"]>, urgent = false): ShardReduction => ({
    shard: { ...shard, process: { ...process, ...change } },
    commands: [],
    urgent,
  });
  switch (event.kind) {
    case "log_grew": {
      if (process.ready) return unchanged(shard);
      const { ratio, message } = event.progress ?? {};
      // Some lines come again (one per worker): what is shown never goes back.
      const best = Math.max(process.load.ratio ?? 0, ratio ?? 0);
      return changed({
        load: {
          ratio: process.load.ratio === null && (ratio ?? null) === null ? null : best,
          message: message ?? process.load.message,
          grewAtMs: context.nowMs,
        },
      });
    }
    case "ready":
      return process.ready ? unchanged(shard) : changed({ ready: true, load: { ...process.load, ratio: 1 } }, true);
    case "load_failed": {
      if (process.ready) return unchanged(shard);
      const cause = `It says that its start has failed: ${event.said}`;
      const killAfterMs = context.settings.ownKillAfterMs;
      return stopShard(shard, { cause: { kind: "load_failed", cause }, killAfterMs }, context);
    }
    case "serves_other": {
      if (process.ready) return unchanged(shard);
      const expected = launch?.modelId ?? "another model";
      const cause = `It serves ${event.found.join(", ") || "no model"}, expected ${expected}`;
      const killAfterMs = context.settings.ownKillAfterMs;
      return stopShard(shard, { cause: { kind: "serves_other", cause }, killAfterMs }, context);
    }
    case "health":
      return changed({ healthProblem: event.problem });
    case "activity": {
      const sinceVersion = launch?.quietSinceVersion ?? 0;
      // A reading begun for another drain, or before this one, proves nothing about this one.
      if (event.sinceVersion !== sinceVersion) return unchanged(shard);
      if (event.counts === null) return changed({ activity: null });
      const isIdle = event.counts.running + event.counts.waiting === 0;
      const before = process.activity?.sinceVersion === sinceVersion ? process.activity.zeroReads : 0;
      const zeroReads = sinceVersion > 0 && isIdle ? before + 1 : 0;
      const { running, waiting } = event.counts;
      return changed({ activity: { running, waiting, zeroReads, sinceVersion } }, zeroReads === 2);
    }
  }
}

function exited(shard: ShardState, exit: Extract<ShardState["process"], { kind: "exited" }>["exit"]): ShardReduction {
  return { shard: { ...shard, process: { kind: "exited", exit } }, commands: [], urgent: true };
}

function unchanged(shard: ShardState): ShardReduction {
  return { shard, commands: [], urgent: false };
}

function withShard(state: AgentState, id: string, { shard, commands, urgent }: ShardReduction): Reduction {
  if (shard === state.shards.get(id)) return { state, commands, urgent };
  return { state: { ...state, shards: new Map(state.shards).set(id, shard) }, commands, urgent };
}

function each(state: AgentState, change: (shard: ShardState) => ShardReduction): Reduction {
  const reductions = [...state.shards].map(([id, shard]) => [id, change(shard)] as const);
  const isSame = reductions.every(([id, { shard }]) => state.shards.get(id) === shard);
  return {
    state: isSame ? state : { ...state, shards: new Map(reductions.map(([id, { shard }]) => [id, shard])) },
    commands: reductions.flatMap(([, { commands }]) => commands),
    urgent: reductions.some(([, { urgent }]) => urgent),
  };
}
