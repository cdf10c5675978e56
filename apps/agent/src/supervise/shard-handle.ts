import type { ProcessIdentity } from "../processes/process-table.ts";
import type { ShardKey } from "./shard-state.ts";

/** The process side of one shard, beside the reducer's view of it: what is needed to watch, signal and persist it. */
export interface ShardHandle {
  readonly id: string;
  readonly key: ShardKey;
  readonly identity: ProcessIdentity;
  readonly host: string;
  readonly port: number;
  readonly attempt: number;
  /** Wall clock, RFC 3339. */
  readonly startedAt: string;
  readonly logPath: string;
  /** Settles when it ends, for a child of this agent; null for an adopted process, which has to be looked at. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }> | null;
}
