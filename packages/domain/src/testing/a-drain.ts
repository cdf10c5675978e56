import type { Drain, Move } from "../cluster/drain.ts";
import { testNowMs } from "./instant.ts";

/** An open drain of node `node_a`, a minute old, with an hour of grace. */
export function aDrain(overrides: Partial<Drain> = {}): Drain {
  const nodeId = overrides.nodeId ?? "node_a";
  return {
    id: `drain_${nodeId}`,
    nodeId,
    gpuUuid: null,
    replica: null,
    by: "op1",
    reason: "kernel update",
    startedAtMs: testNowMs - 60_000,
    deadlineAtMs: testNowMs + 3_540_000,
    forcedAtMs: null,
    forcedBy: null,
    endedAtMs: null,
    result: null,
    losses: [],
    ...overrides,
  };
}

export function aMove(overrides: Partial<Move> = {}): Move {
  return {
    drainId: "drain_node_a",
    replicaId: "m-aaaaa",
    replacementId: null,
    step: "queued",
    stepAtMs: { queued: testNowMs - 60_000 },
    reason: null,
    lost: false,
    ...overrides,
  };
}
