import type { Replica } from "../cluster/replica.ts";
import { reason } from "../reasons/reason.ts";
import { type Draft, desiredCount, headShard, presentShards, setPhase, stopShards } from "./draft.ts";
import type { NodeFacts } from "./facts.ts";
import { replacementOf } from "./leaving.ts";
import { presentNodes, routersReach } from "./proof.ts";

/**
 * Replicas on nodes that were given up on. One that routers still reach goes on as *moving*: silence of the agent alone
 * takes nothing out of routing. The others are lost and leave the table; both are replaced at once.
 */
export function followLostNodes(draft: Draft): void {
  for (const replica of draft.replicas()) {
    const silent = lostNodeOf(draft, replica);
    if (silent !== null) loseNode(draft, replica, silent);
    else if (replica.phase === "lost") returnNode(draft, replica);
  }
}

function loseNode(draft: Draft, replica: Replica, silent: NodeFacts): void {
  const lost = { node: silent.node.name, silentMs: silent.silentMs };
  const reached = replica.phase !== "starting" && routersReach(draft.facts, replica);
  switch (replica.phase) {
    case "serving":
    case "moving":
      if (reached) {
        const why = reason("moving_for_node_lost", lost);
        if (replica.phase === "serving") setPhase(draft, replica, { to: "moving", reason: why, routing: true });
        else if (replica.reason?.code !== why.code) {
          setPhase(draft, replica, { to: "moving", reason: why, routing: false });
        }
        return;
      }
      break;
    case "starting":
      break;
    default:
      return;
  }
  // A gang with a lost member is of no use: its other shards free their GPUs now.
  if (presentShards(replica).length > 1) stopShards(draft, replica);
  const why = reason("node_unreachable", lost);
  setPhase(draft, replica, { to: "lost", reason: why, routing: replica.offeredAtMs !== null });
}

/**
 * The node is back. An engine that still runs is kept in use as *moving* while nothing took its place: then it is kept
 * for good once routers reach it, or leaves once its replacement serves. Otherwise it drains and stops: it is never
 * counted a second time.
 */
function returnNode(draft: Draft, replica: Replica): void {
  const head = headShard(replica);
  const ready = head !== null && draft.facts.observation(head)?.phase === "ready";
  const stopOrdered = presentShards(replica).some((shard) => shard.stopRequestedAtMs !== null);
  if (!ready || stopOrdered) {
    stopShards(draft, replica);
    setPhase(draft, replica, { to: "stopping", reason: replica.reason, routing: false });
    return;
  }
  const replacement = replacementOf(draft, replica);
  const replaced = replacement !== null && replacement.phase === "serving" && replacement.provenSinceMs !== null;
  const unwanted = desiredCount(draft.facts.models.get(replica.modelId)) === 0;
  const [nodeId] = presentNodes(replica);
  const node = nodeId === undefined ? undefined : draft.facts.nodes.get(nodeId);
  const why = reason("moving_for_node_lost", { node: node?.node.name ?? "", silentMs: node?.silentMs ?? 0 });
  setPhase(draft, replica, { to: replaced || unwanted ? "draining" : "moving", reason: why, routing: true });
}

function lostNodeOf(draft: Draft, replica: Replica): NodeFacts | null {
  for (const nodeId of presentNodes(replica)) {
    const node = draft.facts.nodes.get(nodeId);
    if (node?.liveness === "lost") return node;
  }
  return null;
}
