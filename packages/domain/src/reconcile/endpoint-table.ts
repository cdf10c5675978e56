import type { ClusterSnapshot } from "../cluster/snapshot.ts";
import { headShard } from "./draft.ts";

/** A replica's place in the routers' table. Engine, key and limits come from its model's spec. */
export interface TableEndpoint {
  readonly replicaId: string;
  readonly modelId: string;
  readonly generation: number;
  /** Where its head answers, as its agent reported it. */
  readonly url: string;
  readonly state: "serving" | "moving" | "draining";
}

/**
 * Which replicas routers may know: those offered to them (a starting one is offered for its proof, and stands in the
 * table as serving), with their state. Draining ones stay, so that routers keep reporting what is in flight. For a
 * deleted model the whole entry is left out by whoever builds the table; its replicas drain, and where routers have no
 * word on them any more only the engine's own count decides.
 */
export function endpointTable(snapshot: ClusterSnapshot): readonly TableEndpoint[] {
  const urls = new Map<string, string>();
  for (const node of snapshot.nodes) {
    for (const seen of node.observations) {
      if (seen.url !== null) urls.set(`${node.id} ${seen.replicaId} ${seen.generation} ${seen.rank}`, seen.url);
    }
  }
  return snapshot.replicas.flatMap((replica) => {
    if (replica.offeredAtMs === null) return [];
    const { phase } = replica;
    const state = phase === "moving" || phase === "draining" ? phase : "serving";
    if (state === "serving" && phase !== "serving" && phase !== "starting") return [];
    const head = headShard(replica);
    if (head === null) return [];
    const { id: replicaId, modelId, generation } = replica;
    const url = urls.get(`${head.nodeId} ${replicaId} ${generation} ${head.rank}`);
    return url === undefined ? [] : [{ replicaId, modelId, generation, url, state }];
  });
}
