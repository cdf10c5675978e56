import type { ClusterSnapshot } from "../cluster/snapshot.ts";

/** A replica's place in the routers' table. Engine, key and limits come from its model's spec. */
export interface TableEndpoint {
  readonly replicaId: string;
  readonly modelId: string;
  readonly generation: number;
  /** Where its head answers, as its agent reported it when it was offered. */
  readonly url: string;
  readonly state: "serving" | "moving" | "draining";
}

/**
 * Which replicas routers may know: those offered to them (a starting one is offered for its proof, and stands in the
 * table as serving), with their state. Draining ones stay, so that routers keep reporting what is in flight. For a
 * deleted model the whole entry is left out by whoever builds the table; its replicas drain, and where routers have no
 * word on them any more only the engine's own count decides. Everything in it is committed: the table of one version is
 * always the same.
 */
export function endpointTable(snapshot: ClusterSnapshot): readonly TableEndpoint[] {
  return snapshot.replicas.flatMap(({ id: replicaId, modelId, generation, phase, offeredAtMs, url }) => {
    if (offeredAtMs === null || url === null) return [];
    const state = phase === "moving" || phase === "draining" ? phase : "serving";
    if (state === "serving" && phase !== "serving" && phase !== "starting") return [];
    return [{ replicaId, modelId, generation, url, state }];
  });
}
