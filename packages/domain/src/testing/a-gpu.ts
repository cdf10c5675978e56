import type { Gpu, GpuHealth } from "../cluster/gpu.ts";
import { testNowMs } from "./instant.ts";

/** A healthy verdict of the boot `boot-1`; override what the test is about. */
export function aGpuHealth(overrides: Partial<GpuHealth> = {}): GpuHealth {
  return {
    status: "healthy",
    reason: null,
    evidence: null,
    sinceMs: testNowMs - 3_600_000,
    bootId: "boot-1",
    schedulable: true,
    evict: "none",
    ...overrides,
  };
}

/** An idle, healthy 80 GB H100. `aNode` gives it the node's id. */
export function aGpu(overrides: Partial<Gpu> = {}): Gpu {
  const index = overrides.index ?? 0;
  const nodeId = overrides.nodeId ?? "node_a";
  return {
    uuid: `GPU-${nodeId}-${index}`,
    index,
    vendor: "nvidia",
    name: "NVIDIA H100 80GB HBM3",
    pciBusId: `00000000:${(0x17 + index).toString(16).toUpperCase()}:00.0`,
    totalMib: 81_559,
    usedMib: 4,
    temperatureC: 31,
    utilizationRatio: 0,
    eccUncorrected: 0,
    migMode: "disabled",
    faults: [],
    processes: [],
    nodeId,
    previousIndex: null,
    missingSinceMs: null,
    health: aGpuHealth(),
    ...overrides,
  };
}
