import type { ClusterSnapshot } from "../cluster/snapshot.ts";
import { testNowMs } from "./instant.ts";

/** An empty cluster at version 1, whose control loop has been held for an hour. */
export function aSnapshot(overrides: Partial<ClusterSnapshot> = {}): ClusterSnapshot {
  return {
    version: 1,
    nowMs: testNowMs,
    controlSinceMs: testNowMs - 3_600_000,
    nodes: [],
    models: [],
    replicas: [],
    drains: [],
    moves: [],
    routers: [],
    ...overrides,
  };
}
