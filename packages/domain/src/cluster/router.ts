/** What a router says of one endpoint. Counts are its own; `probe` is its own knock on the engine's door. */
export interface EndpointReport {
  readonly replicaId: string;
  readonly generation: number;
  readonly inflight: number;
  readonly probe: "ok" | "failed" | "unknown";
  readonly breaker: "closed" | "open" | "half_open";
}

/** A router as its last sync described it. It is live while its lease runs (`lastSeenAtMs` + lease, database clock). */
export interface Router {
  readonly id: string;
  readonly name: string;
  readonly session: string;
  readonly address: string;
  readonly version: string;
  readonly lastSeenAtMs: number;
  /** It said goodbye: it sends nothing any more. */
  readonly leftAtMs: number | null;
  readonly appliedVersion: number;
  readonly endpoints: readonly EndpointReport[];
}
