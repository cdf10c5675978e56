/** A request in flight on a simulated engine. */
export interface SimRequest {
  readonly routerId: string;
  /** The router's lease had run out when it sent this. */
  readonly fromSilentRouter: boolean;
  readonly startedAtMs: number;
  readonly endsAtMs: number;
}

/** A simulated engine process. It lives on its machine whatever becomes of the agent that started it. */
export interface SimEngine {
  readonly key: string;
  readonly replicaId: string;
  readonly generation: number;
  readonly rank: number;
  readonly modelId: string;
  readonly nodeId: string;
  readonly gpuUuids: readonly string[];
  readonly startedAtMs: number;
  readonly readyAtMs: number;
  /** It ends by itself then: a crash at start or later. */
  diesAtMs: number;
  /** Told to stop: it is gone then. */
  goneAtMs: number | null;
  requests: SimRequest[];
}

export function engineKey(replicaId: string, generation: number, rank: number): string {
  return `${replicaId}/${generation}/${rank}`;
}

export function isReady(engine: SimEngine, nowMs: number): boolean {
  return engine.goneAtMs === null && nowMs >= engine.readyAtMs;
}
