import { formatDuration } from "@llmgw/service";
import type { ReduceContext, ShardReduction } from "./reduce.ts";
import { type ShardState, shardId } from "./shard-state.ts";
import { stopShard } from "./stop-shard.ts";

/** What time alone does to a shard: a load too long or too silent is ended, a stop too slow gets SIGKILL, then is stuck. */
export function tick(shard: ShardState, context: ReduceContext): ShardReduction {
  const { process, launch } = shard;
  const { nowMs, settings } = context;
  const unchanged = { shard, commands: [], urgent: false };
  if (process.kind === "running" && !process.ready && launch !== null) {
    const cause = overdue(process, launch.load, nowMs);
    if (cause === null) return unchanged;
    return stopShard(shard, { cause: { kind: "load_stalled", cause }, killAfterMs: settings.ownKillAfterMs }, context);
  }
  if (process.kind !== "stopping") return unchanged;
  if (process.killedAtMs === null) {
    if (nowMs < process.killAtMs) return unchanged;
    return {
      shard: { ...shard, process: { ...process, killedAtMs: nowMs } },
      commands: [{ kind: "signal", id: shardId(shard.key), signal: "SIGKILL" }],
      urgent: false,
    };
  }
  if (nowMs < process.killedAtMs + settings.stuckAfterMs) return unchanged;
  return { shard: { ...shard, process: { ...process, kind: "stuck" } }, commands: [], urgent: true };
}

function overdue(
  { process, load }: Extract<ShardState["process"], { kind: "running" }>,
  { maxMs, stallMs }: { readonly maxMs: number; readonly stallMs: number },
  nowMs: number,
): string | null {
  const at = load.message === null ? "" : ` (last seen: ${load.message})`;
  if (nowMs - load.grewAtMs >= stallMs) {
    return `It wrote nothing for ${formatDuration(stallMs)} while loading${at}`;
  }
  if (nowMs - process.startedAtMs >= maxMs) return `It was not ready ${formatDuration(maxMs)} after its start${at}`;
  return null;
}
