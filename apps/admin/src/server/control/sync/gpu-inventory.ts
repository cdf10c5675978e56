import { type Gpu, type GpuFacts, judgeGpu, judgeMissingGpu } from "@llmgw/domain";

export interface InventoryQuestion {
  readonly nodeId: string;
  readonly bootId: string;
  /** The node's GPUs as they are known. */
  readonly known: readonly Gpu[];
  /** The GPUs its agent reports now, those that belong to other nodes left out. */
  readonly reported: readonly GpuFacts[];
  readonly nowMs: number;
}

/**
 * The node's inventory after a report. It is sticky: a GPU that is not reported any more stays, missing. A changed
 * index is remembered, since people know cards by their index and machines reorder them over a reboot.
 */
export function updateInventory({ nodeId, bootId, known, reported, nowMs }: InventoryQuestion): Gpu[] {
  const before = new Map(known.map((gpu) => [gpu.uuid, gpu]));
  const present = reported.map((facts): Gpu => {
    const previous = before.get(facts.uuid);
    before.delete(facts.uuid);
    return {
      ...facts,
      nodeId,
      previousIndex:
        previous === undefined || previous.index === facts.index ? (previous?.previousIndex ?? null) : previous.index,
      missingSinceMs: null,
      health: judgeGpu({ facts, previous: previous?.health ?? null, bootId, nowMs }),
    };
  });
  const missing = [...before.values()].map((gpu): Gpu => {
    const missingSinceMs = gpu.missingSinceMs ?? nowMs;
    const health = judgeMissingGpu({ index: gpu.index, previous: gpu.health, bootId, missingSinceMs });
    return { ...gpu, missingSinceMs, health };
  });
  return [...present, ...missing];
}

/** GPUs that differ in anything from what is known. */
export function changedGpus(known: readonly Gpu[], next: readonly Gpu[]): Gpu[] {
  const before = new Map(known.map((gpu) => [gpu.uuid, JSON.stringify(gpu)]));
  return next.filter((gpu) => before.get(gpu.uuid) !== JSON.stringify(gpu));
}

/** Something that placement or a drain may have to act on, as opposed to a temperature. */
export function isSignificant(known: readonly Gpu[], next: readonly Gpu[]): boolean {
  const summary = (gpus: readonly Gpu[]) =>
    JSON.stringify(
      gpus.map(({ uuid, index, totalMib, missingSinceMs, health }) => [
        uuid,
        index,
        totalMib,
        missingSinceMs,
        health.status,
        health.schedulable,
        health.evict,
        health.reason?.code,
      ]),
    );
  return summary(known) !== summary(next);
}
