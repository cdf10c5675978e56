import type { Replica } from "../cluster/replica.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { headShard, presentShards } from "./draft.ts";
import { type Facts, nodeName } from "./facts.ts";

/**
 * Why a replica is not proven to serve; null when it is. It serves when its agent says ready and every live router has
 * applied the version that put it where it is *and* has reached it. With no live router the agent's word is enough.
 */
export function unprovenReason(facts: Facts, replica: Replica): Reason | null {
  const head = headShard(replica);
  const node = head === null ? undefined : facts.nodes.get(head.nodeId);
  if (head === null || node === undefined) return reason("awaiting_agent", { node: head?.nodeId ?? "none" });
  if (node.liveness === "lost") {
    return reason("node_unreachable", { node: node.node.name, silentMs: node.silentMs });
  }
  const seen = facts.observation(head);
  if (seen === null) return reason("awaiting_agent", { node: node.node.name });
  if (seen.phase !== "ready") {
    return reason("awaiting_engine", { node: node.node.name, message: seen.loadMessage ?? "" });
  }
  if (replica.offeredAtMs === null) return reason("awaiting_routers", { routers: "none asked yet" });
  const missing = facts.liveRouters.filter(({ router, says }) => {
    const word = router.appliedVersion < replica.stateVersion ? null : says(replica.id, replica.generation);
    return word?.probe !== "ok";
  });
  return missing.length === 0 ? null : reason("awaiting_routers", { routers: names(missing) });
}

/**
 * Do routers still get through to it: some live one's last probe succeeded and its breaker is closed. Of whatever
 * version: this is about the wire, not about an order.
 */
export function routersReach(facts: Facts, replica: Replica): boolean {
  return facts.liveRouters.some(({ says }) => {
    const word = says(replica.id, replica.generation);
    return word?.probe === "ok" && word.breaker === "closed";
  });
}

export interface Quiet {
  /** Every live router counts 0 in flight, by a report that knows the replica drains. */
  readonly routers: boolean;
  /** It may be stopped. */
  readonly proven: boolean;
  /** What it waits for; where it is proven against the engine's own count, that disagreement; else null. */
  readonly reason: Reason | null;
}

/**
 * The proof that nobody uses a draining replica any more: every live router says 0 in flight at a version that knows it
 * drains, and its engine, asked locally, was idle twice. An engine whose count cannot be read or stays above 0 is not
 * waited for longer than `engineDisagreesMs`. While a silent router may still be sending, only the engine's count
 * decides, however long that takes; the same where a live router has no word on it.
 */
export function quietness(facts: Facts, replica: Replica): Quiet {
  const { settings, nowMs, liveRouters, silentRouters } = facts;
  const behind = liveRouters.filter(({ router }) => router.appliedVersion < replica.stateVersion);
  if (behind.length > 0) {
    return { routers: false, proven: false, reason: reason("awaiting_router_ack", { routers: names(behind) }) };
  }
  const words = liveRouters.map(({ says }) => says(replica.id, replica.generation));
  const busy = words.filter((word) => word !== null && word.inflight > 0);
  if (busy.length > 0) {
    const inflight = busy.reduce((sum, word) => sum + (word?.inflight ?? 0), 0);
    return { routers: false, proven: false, reason: reason("draining_inflight", { inflight, routers: busy.length }) };
  }
  const head = headShard(replica);
  const activity = head === null ? null : (facts.observation(head)?.activity ?? null);
  const counted = activity !== null && activity.sinceVersion >= replica.stateVersion;
  if (counted && activity.zeroReads >= 2) return { routers: true, proven: true, reason: null };

  const wordless = liveRouters.filter((_, index) => words[index] === null).map(({ router }) => router);
  const unsure = [...silentRouters, ...wordless];
  if (unsure.length > 0) {
    const routers = unsure.map((router) => router.name).join(", ");
    return { routers: true, proven: false, reason: reason("router_may_still_send", { routers }) };
  }
  // -1: the count cannot be read.
  const counts = { running: activity?.running ?? -1, waiting: activity?.waiting ?? -1 };
  const quietForMs = replica.routersQuietSinceMs === null ? 0 : nowMs - replica.routersQuietSinceMs;
  return quietForMs >= settings.engineDisagreesMs
    ? { routers: true, proven: true, reason: reason("engine_count_disagreed", counts) }
    : { routers: true, proven: false, reason: reason("draining_engine_busy", counts) };
}

/** What a stopping replica waits for; null when nothing is known to run any more. */
export function stoppingReason(facts: Facts, replica: Replica): Reason | null {
  for (const shard of replica.shards) {
    if (shard.releasedAtMs !== null) continue;
    const node = facts.nodes.get(shard.nodeId);
    if (node !== undefined && node.liveness !== "live") {
      return reason("node_unreachable", { node: node.node.name, silentMs: node.silentMs });
    }
    const seen = facts.observation(shard);
    const where = { node: nodeName(facts, shard.nodeId), pid: seen?.pid ?? 0 };
    if (seen?.phase === "stuck") return reason("stuck_process", where);
    return seen === null || seen.pid === null
      ? reason("awaiting_agent", { node: where.node })
      : reason("stopping_process", where);
  }
  return null;
}

/** Nodes that hold a shard of its present generation which is not released. */
export function presentNodes(replica: Replica): readonly string[] {
  return presentShards(replica).flatMap((shard) => (shard.releasedAtMs === null ? [shard.nodeId] : []));
}

function names(routers: readonly { readonly router: { readonly name: string } }[]): string {
  return routers.map(({ router }) => router.name).join(", ");
}
