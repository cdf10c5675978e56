import type { Replica } from "../cluster/replica.ts";
import type { Shard, ShardExit } from "../cluster/shard.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { backoffMs, failuresOn, failuresWith } from "./backoff.ts";
import { type Draft, presentShards, setPhase, stopShards } from "./draft.ts";
import { nodeName } from "./facts.ts";

interface Ended {
  readonly shard: Shard;
  readonly exit: ShardExit;
}

/**
 * Takes in what agents say ended. A shard whose process group is gone is released. One that ended by itself fails its
 * whole generation: the shard that failed first says why, the others are stopped.
 */
export function observeExits(draft: Draft): void {
  for (const replica of draft.replicas()) {
    const ended = endedShards(draft, replica);
    if (ended.length === 0) continue;
    const byThemselves = ended.filter(({ shard }) => shard.stopRequestedAtMs === null).sort(byTime);
    for (const { shard, exit } of byThemselves) {
      if (exit.asked) continue;
      const { replicaId, generation, rank, nodeId } = shard;
      draft.decide({ kind: "record_failure", replicaId, generation, rank, nodeId, exit, drainId: replica.drainId });
    }
    for (const { shard } of ended) {
      const { replicaId, generation, rank } = shard;
      draft.decide({ kind: "release_shard", replicaId, generation, rank, drainId: replica.drainId });
    }
    const first = byThemselves.find(({ shard }) => shard.generation === replica.generation);
    if (first !== undefined) failGeneration(draft, draft.replica(replica.id) ?? replica, first);
  }
}

/** Fails starts that take longer than the model allows: the agent kills a stalled load, this bounds all the rest. */
export function observeLoadTimeouts(draft: Draft): void {
  for (const replica of draft.replicas()) {
    const model = draft.facts.models.get(replica.modelId);
    if (replica.phase !== "starting" || model === undefined || replica.offeredAtMs !== null) continue;
    const afterMs = draft.nowMs - replica.phaseSinceMs;
    const [shard] = presentShards(replica);
    if (afterMs < model.spec.load.maxMs || shard === undefined) continue;
    if (draft.facts.observation(shard)?.phase === "ready") continue;
    const why = reason("load_timed_out", { node: nodeName(draft.facts, shard.nodeId), afterMs: model.spec.load.maxMs });
    stopShards(draft, replica);
    failStart(draft, replica, { nodeId: shard.nodeId, why });
  }
}

function endedShards(draft: Draft, replica: Replica): readonly Ended[] {
  const ended: Ended[] = [];
  for (const shard of replica.shards) {
    if (shard.releasedAtMs !== null) continue;
    const seen = draft.facts.observation(shard);
    if (seen?.phase === "exited") ended.push({ shard, exit: seen.exit ?? unexplained });
  }
  return ended;
}

function failGeneration(draft: Draft, replica: Replica, { shard, exit }: Ended): void {
  const node = nodeName(draft.facts, shard.nodeId);
  const why = { node, category: exit.category, cause: exit.cause };
  const exited = reason("engine_exited", why);
  switch (replica.phase) {
    case "starting":
    case "serving": {
      stopShards(draft, replica);
      const routing = replica.offeredAtMs !== null;
      if (exit.asked) {
        // Its agent ended together with its engines: nothing failed, so it starts again at once.
        setPhase(draft, replica, { to: "failed", reason: exited, routing, drainId: null, notBeforeMs: null });
      } else if (exit.category === "bad_configuration") {
        // The same configuration fails again: it waits for another revision of the model.
        const failures = failuresWith(replica, { atMs: draft.nowMs, nodeId: shard.nodeId }, draft.settings);
        const bad = reason("bad_configuration", { cause: exit.cause });
        setPhase(draft, replica, { to: "failed", reason: bad, routing, drainId: null, notBeforeMs: null, failures });
      } else {
        const failed = replica.phase === "starting" ? reason("start_failed", why) : exited;
        failStart(draft, replica, { nodeId: shard.nodeId, why: failed });
      }
      return;
    }
    case "moving":
    case "draining":
      // It had to go anyway; what the model lacks by it is filled as any missing replica is.
      stopShards(draft, replica);
      setPhase(draft, replica, { to: "stopping", reason: exited, routing: true });
      return;
    default:
      return;
  }
}

function failStart(
  draft: Draft,
  replica: Replica,
  { nodeId, why }: { readonly nodeId: string; readonly why: Reason },
): void {
  const failures = failuresWith(replica, { atMs: draft.nowMs, nodeId }, draft.settings);
  const waitMs = backoffMs(failuresOn({ ...replica, failures }, nodeId), replica.id, draft.settings);
  setPhase(draft, replica, {
    to: "failed",
    reason: why,
    routing: replica.offeredAtMs !== null,
    drainId: null,
    notBeforeMs: draft.nowMs + waitMs,
    failures,
  });
}

/** The shard that ran the shortest ended first: all of a generation start together. */
function byTime(a: Ended, b: Ended): number {
  return a.exit.ranMs - b.exit.ranMs || a.shard.rank - b.shard.rank;
}

const unexplained: ShardExit = {
  code: null,
  signal: null,
  category: "unknown",
  cause: "the agent could not say how it ended",
  hint: null,
  tail: [],
  asked: false,
  ranMs: 0,
};
