import type { Replica } from "../cluster/replica.ts";
import { type Draft, headShard, setPhase } from "./draft.ts";
import { unprovenReason } from "./proof.ts";

/**
 * Offers engines that became ready to the routers (again where their address has changed), keeps the proof of serving of
 * every replica in the table, and turns starting replicas into serving ones once it holds.
 */
export function followServing(draft: Draft): void {
  for (const found of draft.replicas()) {
    const { phase } = found;
    if (phase !== "starting" && phase !== "serving" && phase !== "moving" && phase !== "draining") continue;
    let replica = offered(draft, found);
    if (replica.offeredAtMs === null || phase === "draining") continue;
    const proven = unprovenReason(draft.facts, replica) === null;
    if (proven !== (replica.provenSinceMs !== null)) {
      draft.decide({
        kind: "set_proof",
        replicaId: replica.id,
        generation: replica.generation,
        provenSinceMs: proven ? draft.nowMs : null,
        routersQuietSinceMs: null,
        drainId: replica.drainId,
      });
      replica = draft.replica(replica.id) ?? replica;
    }
    if (proven && replica.phase === "starting")
      setPhase(draft, replica, { to: "serving", reason: null, routing: false });
  }
}

/** Tells routers where its head answers, where they do not know that yet. */
function offered(draft: Draft, replica: Replica): Replica {
  const head = headShard(replica);
  const seen = head === null ? null : draft.facts.observation(head);
  const url = seen?.url ?? null;
  if (url === null || url === replica.url || seen?.phase !== "ready") return replica;
  const { id: replicaId, generation, drainId } = replica;
  draft.decide({ kind: "offer_endpoint", replicaId, generation, url, drainId });
  return draft.replica(replicaId) ?? replica;
}
