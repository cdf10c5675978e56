import type { GpuEvaluation, NodeEvaluation } from "./evaluate.ts";
import { byType } from "./filters/group.ts";

/**
 * The GPUs of an accepted node that one shard takes: of one type, healthy before degraded, already shared before whole
 * ones, the tightest fit, then by index. Of several types the smallest card that fits, to keep the large ones whole.
 * Null when the node has no such group.
 */
export function pickGpus({ gpus }: NodeEvaluation, need: number): readonly GpuEvaluation[] | null {
  const fitting = new Map(gpus.filter((found) => found.accepted).map((found) => [found.gpu.uuid, found]));
  const groups = [...byType([...fitting.values()].map((found) => found.gpu)).values()];
  let best: readonly GpuEvaluation[] | null = null;
  for (const group of groups) {
    if (group.length < need) continue;
    const members = group.flatMap((gpu) => fitting.get(gpu.uuid) ?? []).sort(preferred);
    const picked = members.slice(0, need);
    if (best === null || compareGroups(picked, best) < 0) best = picked;
  }
  return best === null ? null : [...best].sort(byIndex);
}

function preferred(a: GpuEvaluation, b: GpuEvaluation): number {
  return degraded(a) - degraded(b) || whole(a) - whole(b) || freeMib(a) - freeMib(b) || byIndex(a, b);
}

function compareGroups(a: readonly GpuEvaluation[], b: readonly GpuEvaluation[]): number {
  const sum = (group: readonly GpuEvaluation[], of: (gpu: GpuEvaluation) => number): number =>
    group.reduce((total, gpu) => total + of(gpu), 0);
  return sum(a, degraded) - sum(b, degraded) || sum(a, totalMib) - sum(b, totalMib);
}

const degraded = ({ gpu }: GpuEvaluation): number => (gpu.health.status === "healthy" ? 0 : 1);
const whole = ({ holders }: GpuEvaluation): number => (holders.some((holder) => holder.kind === "shard") ? 0 : 1);
const freeMib = ({ free }: GpuEvaluation): number => (free.kind === "known" ? free.freeMib : 0);
const totalMib = (found: GpuEvaluation): number => found.totalMib ?? 0;
const byIndex = (a: GpuEvaluation, b: GpuEvaluation): number =>
  a.gpu.index - b.gpu.index || (a.gpu.uuid < b.gpu.uuid ? -1 : 1);
