import { type Draft, headShard, setPhase } from "./draft.ts";
import { unprovenReason } from "./proof.ts";

/**
 * Offers engines that became ready to the routers, keeps the proof of serving of every replica in the table, and turns
 * starting replicas into serving ones once it holds.
 */
export function followServing(draft: Draft): void {
  for (const found of draft.replicas()) {
    if (found.phase !== "starting" && found.phase !== "serving" && found.phase !== "moving") continue;
    let replica = found;
    if (replica.phase === "starting" && replica.offeredAtMs === null) {
      const head = headShard(replica);
      if (head === null || draft.facts.observation(head)?.phase !== "ready") continue;
      const { id: replicaId, generation, drainId } = replica;
      draft.decide({ kind: "offer_endpoint", replicaId, generation, drainId });
      replica = draft.replica(replicaId) ?? replica;
    }
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
