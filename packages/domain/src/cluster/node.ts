import type { Gpu } from "./gpu.ts";
import type { EngineName } from "./model.ts";
import type { ShardObservation } from "./shard.ts";

/** Heard of lately (`live`), silent for a while (`suspect`: nothing new is placed), or given up on (`lost`). */
export type Liveness = "live" | "suspect" | "lost";

/** What an operator or a drain decided about a node; always derived from cordons and drains, never stored. */
export type Availability = "active" | "cordoned" | "draining" | "drained";

export type CordonOwner = "operator" | "drain" | "health" | "flapping";

/** One reason why nothing new is placed on a node, or on one GPU of it (`gpuUuid`). */
export interface Cordon {
  readonly id: string;
  readonly nodeId: string;
  readonly gpuUuid: string | null;
  readonly owner: CordonOwner;
  /** Who set it: a person, a token's name, or `system`. */
  readonly by: string;
  readonly reason: string;
  readonly sinceMs: number;
  readonly drainId: string | null;
}

/** An engine that the agent found on its machine. */
export interface RunnableEngine {
  readonly name: EngineName;
  readonly version: string | null;
}

export interface Node {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly machineId: string;
  readonly bootId: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly simulated: boolean;
  readonly agentVersion: string;
  readonly engines: readonly RunnableEngine[];
  /** Model sources this node has on disk; a source not named is unknown. */
  readonly sources: Readonly<Record<string, "present" | "absent">>;
  readonly registeredAtMs: number;
  /** When its last sync arrived, by the database clock; null before the first. */
  readonly lastSeenAtMs: number | null;
  /** When it was heard again after a silence that made it suspect, the latest ones, newest last. */
  readonly returnsAtMs: readonly number[];
  /** An operator said that it is gone for good; it ends with its next word. */
  readonly lostConfirmedAtMs: number | null;
  /** The desired-state version its agent has applied. */
  readonly appliedVersion: number;
  readonly cordons: readonly Cordon[];
  readonly gpus: readonly Gpu[];
  /** Shards of the agent's last report, the ones that the database does not know included. */
  readonly observations: readonly ShardObservation[];
}
