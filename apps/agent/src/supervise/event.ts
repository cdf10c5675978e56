import type { ShardExit } from "@llmgw/domain";
import type { AgentSyncAnswer, ShardLaunch } from "@llmgw/wire";
import type { RunningProcess } from "./shard-state.ts";

/** The verdict over a finished process, before the supervisor adds what it knows: whether it was asked, how long it ran. */
export type ExitFacts = Pick<ShardExit, "code" | "signal" | "category" | "cause" | "hint" | "tail">;

/** What happens to a supervisor. `id` is a `shardId`. */
export type AgentEvent =
  /** An answer arrived; `reportedExited` are the shards that the report it answers called exited. */
  | { readonly kind: "answer"; readonly answer: AgentSyncAnswer; readonly reportedExited: readonly string[] }
  /** The agent has just started: carry out the desired state that it found on disk. */
  | { readonly kind: "resume" }
  | { readonly kind: "spawned"; readonly id: string; readonly process: RunningProcess }
  | { readonly kind: "spawn_failed"; readonly id: string; readonly facts: ExitFacts }
  | {
      readonly kind: "log_grew";
      readonly id: string;
      readonly progress: { readonly ratio: number | null; readonly message: string } | null;
    }
  | { readonly kind: "ready"; readonly id: string }
  /** It lives and says that its start has failed. */
  | { readonly kind: "load_failed"; readonly id: string; readonly said: string }
  /** Its port answers with other models than the one it was started for. */
  | { readonly kind: "serves_other"; readonly id: string; readonly found: readonly string[] }
  | { readonly kind: "health"; readonly id: string; readonly problem: string | null }
  /** One reading of the engine's own counts; `sinceVersion` is the drain it was begun for, 0 for none. */
  | {
      readonly kind: "activity";
      readonly id: string;
      readonly counts: { readonly running: number; readonly waiting: number } | null;
      readonly sinceVersion: number;
    }
  /** The main process is gone and others of its group live on. */
  | { readonly kind: "leader_ended"; readonly id: string; readonly code: number | null; readonly signal: string | null }
  /** Every process of the group is gone. */
  | { readonly kind: "gone"; readonly id: string; readonly facts: ExitFacts }
  /** End every engine: the agent itself was told to stop with its engines. */
  | { readonly kind: "stop_all"; readonly killAfterMs: number }
  | { readonly kind: "tick" };

/** What the supervisor wants done. */
export type AgentCommand =
  | { readonly kind: "spawn"; readonly id: string; readonly launch: ShardLaunch; readonly attempt: number }
  | { readonly kind: "signal"; readonly id: string; readonly signal: "SIGTERM" | "SIGKILL" }
  | { readonly kind: "forget"; readonly id: string };
