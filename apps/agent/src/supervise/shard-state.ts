import type { EngineActivity, ShardExit } from "@llmgw/domain";
import type { ShardLaunch, ShardStop } from "@llmgw/wire";

/** One start of one shard: the identity under which it is reported, persisted and stopped. */
export interface ShardKey {
  readonly replicaId: string;
  readonly generation: number;
  readonly rank: number;
}

/** `<replica>/<rank>#<generation>`: the key as one word, for maps, file names and logs. */
export function shardId({ replicaId, generation, rank }: ShardKey): string {
  return `${replicaId}/${rank}#${generation}`;
}

/** Why a process is being ended. Only `asked` is an order; the others follow from what the engine itself did. */
export type StopCause =
  | { readonly kind: "asked" }
  | { readonly kind: "load_stalled"; readonly cause: string }
  | { readonly kind: "serves_other"; readonly cause: string }
  | { readonly kind: "load_failed"; readonly cause: string }
  /** Its main process ended by itself and left others of its group behind. */
  | { readonly kind: "ended"; readonly code: number | null; readonly signal: string | null };

/** Where an engine's process is. Instants are the agent's monotonic clock, ms. */
export interface RunningProcess {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  readonly startedAtMs: number;
}

interface LoadState {
  readonly ratio: number | null;
  readonly message: string | null;
  /** When its log last grew. */
  readonly grewAtMs: number;
}

/**
 * spawning → running (not ready, then ready) → exited; an end that needs a hand goes through stopping, and stuck while a
 * process survives SIGKILL. A process that finds its port taken goes back to spawning.
 */
type ShardProcess =
  | { readonly kind: "spawning"; readonly attempt: number; readonly stop: { readonly killAfterMs: number } | null }
  | {
      readonly kind: "running";
      readonly process: RunningProcess;
      readonly attempt: number;
      readonly ready: boolean;
      readonly load: LoadState;
      /** Null while the engine's counts cannot be read. */
      readonly activity: EngineActivity | null;
      /** What is wrong with a ready engine's health, null while it answers. */
      readonly healthProblem: string | null;
    }
  | {
      readonly kind: "stopping" | "stuck";
      readonly process: RunningProcess;
      readonly cause: StopCause;
      readonly killAtMs: number;
      /** When SIGKILL was sent; null before. */
      readonly killedAtMs: number | null;
    }
  | { readonly kind: "exited"; readonly exit: ShardExit };

export interface ShardState {
  readonly key: ShardKey;
  /** Null for a process that was found running with no record of its order, or an order to stop what is not here. */
  readonly launch: ShardLaunch | null;
  readonly process: ShardProcess;
}

/** The last answer that was carried out, as it is kept on disk. */
export interface DesiredState {
  readonly clusterId: string | null;
  readonly version: number;
  readonly run: readonly ShardLaunch[];
  readonly stop: readonly ShardStop[];
}

export interface AgentState {
  readonly desired: DesiredState;
  /** By `shardId`. */
  readonly shards: ReadonlyMap<string, ShardState>;
  /** Why the last answer was not applied, in a sentence for `/health`; null when it was. */
  readonly hold: string | null;
}

export const nothingDesired: DesiredState = { clusterId: null, version: 0, run: [], stop: [] };

/** Durations of the supervisor, ms. */
export interface SuperviseSettings {
  /** How long a process may take to die of SIGKILL before it counts as stuck. */
  readonly stuckAfterMs: number;
  /** Between SIGTERM and SIGKILL when the agent itself ends a process (stalled load, leftovers). */
  readonly ownKillAfterMs: number;
  /** Starts of one shard that may fail on a taken port before that counts as its failure. */
  readonly portAttempts: number;
}

export const defaultSuperviseSettings: SuperviseSettings = {
  stuckAfterMs: 5_000,
  ownKillAfterMs: 5_000,
  portAttempts: 5,
};
