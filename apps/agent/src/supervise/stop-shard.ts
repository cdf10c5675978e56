import type { ReduceContext, ShardReduction } from "./reduce.ts";
import { type ShardState, type StopCause, shardId } from "./shard-state.ts";

export interface StopOrder {
  readonly cause: StopCause;
  readonly killAfterMs: number;
}

/**
 * Begins to end a shard, or, where that has begun, brings its SIGKILL forward if the new order is more impatient. An
 * order turns an end that the agent had begun by itself into one that was asked for only while nothing failed: a stalled
 * load that is then also told to stop still stalled.
 */
export function stopShard(shard: ShardState, order: StopOrder, { nowMs }: ReduceContext): ShardReduction {
  const { process } = shard;
  const none = (next: ShardState): ShardReduction => ({ shard: next, commands: [], urgent: false });
  switch (process.kind) {
    case "exited":
      return none(shard);
    case "spawning":
      // Its pid is not known yet: it is ended as soon as it is.
      return none(process.stop === null ? { ...shard, process: { ...process, stop: order } } : shard);
    case "stopping":
    case "stuck": {
      const killAtMs = Math.min(process.killAtMs, nowMs + order.killAfterMs);
      return none(killAtMs === process.killAtMs ? shard : { ...shard, process: { ...process, killAtMs } });
    }
    case "running":
      return {
        shard: {
          ...shard,
          process: {
            kind: "stopping",
            process: process.process,
            cause: order.cause,
            killAtMs: nowMs + order.killAfterMs,
            killedAtMs: null,
          },
        },
        commands: [{ kind: "signal", id: shardId(shard.key), signal: "SIGTERM" }],
        urgent: false,
      };
  }
}
