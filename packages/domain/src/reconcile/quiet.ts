import { type Draft, isReleased, setPhase, stopShards } from "./draft.ts";
import { quietness } from "./proof.ts";

/** Stops draining replicas once nobody uses them, and closes those whose processes are confirmed gone. */
export function stopQuiet(draft: Draft): void {
  for (const replica of draft.replicas()) {
    if (replica.phase === "draining") {
      const quiet = quietness(draft.facts, replica);
      if (quiet.proven) {
        const stopping = setPhase(draft, replica, {
          to: "stopping",
          reason: quiet.reason ?? replica.reason,
          routing: true,
        });
        stopShards(draft, stopping);
      } else if (quiet.routers !== (replica.routersQuietSinceMs !== null)) {
        draft.decide({
          kind: "set_proof",
          replicaId: replica.id,
          generation: replica.generation,
          provenSinceMs: null,
          routersQuietSinceMs: quiet.routers ? draft.nowMs : null,
          drainId: replica.drainId,
        });
      }
    } else if (replica.phase === "stopping") {
      stopShards(draft, replica);
    }
  }
  for (const replica of draft.replicas()) {
    if (replica.phase === "stopping" && isReleased(replica)) {
      setPhase(draft, replica, { to: "stopped", reason: replica.reason, routing: false });
    }
  }
}
