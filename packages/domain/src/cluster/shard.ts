/** Why an engine process ended, in one word that an operator can act on. */
export type FailureCategory =
  | "out_of_memory"
  | "bad_configuration"
  | "port_in_use"
  | "gpu_fault"
  | "model_not_found"
  | "load_stalled"
  | "killed"
  | "stopped"
  | "crash"
  | "unknown";

/** The end of an engine process: what the system said and what its log said, the first real error as `cause`. */
export interface ShardExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly category: FailureCategory;
  readonly cause: string;
  readonly hint: string | null;
  /** The last lines of its log, oldest first, already stripped of ANSI and secrets. */
  readonly tail: readonly string[];
  /** True when the agent ended it because it was told to (or because the agent itself was stopped with its engines). */
  readonly asked: boolean;
  readonly ranMs: number;
}

/** `stuck`: a process of the group survives SIGKILL. `exited`: the agent confirms that the whole group is gone. */
export type ShardObservedPhase = "starting" | "ready" | "stopping" | "exited" | "stuck";

/**
 * What the engine itself says it is working on, asked locally by its agent. `zeroReads` counts consecutive reads of
 * running + waiting = 0, one second apart, all taken after the agent had applied `sinceVersion`.
 */
export interface EngineActivity {
  readonly running: number;
  readonly waiting: number;
  readonly zeroReads: number;
  readonly sinceVersion: number;
}

/** One shard as its agent reports it. */
export interface ShardObservation {
  readonly replicaId: string;
  readonly generation: number;
  readonly rank: number;
  readonly phase: ShardObservedPhase;
  readonly pid: number | null;
  /** Where the head's HTTP endpoint listens, e.g. `http://127.0.0.11:18000`; null while there is none. */
  readonly url: string | null;
  readonly gpuUuids: readonly string[];
  readonly loadRatio: number | null;
  readonly loadMessage: string | null;
  readonly startedAgoMs: number | null;
  /** Null when the engine's counts cannot be read. */
  readonly activity: EngineActivity | null;
  readonly exit: ShardExit | null;
}

/**
 * One engine process of a replica: where it is to run and what it holds there. It stays in the snapshot until its
 * agent confirms that the process group is dead (`releasedAtMs`); only then are its GPUs free again.
 */
export interface Shard {
  readonly replicaId: string;
  readonly generation: number;
  readonly rank: number;
  readonly nodeId: string;
  readonly gpuUuids: readonly string[];
  readonly memoryMibPerGpu: number;
  /** The model shares its GPUs with others that share too. */
  readonly shareGpu: boolean;
  readonly stopRequestedAtMs: number | null;
  readonly releasedAtMs: number | null;
}
