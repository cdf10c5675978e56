import type { Gpu } from "../cluster/gpu.ts";
import type { Node } from "../cluster/node.ts";
import { readingOrNull } from "../cluster/reading.ts";
import { type Reason, reason } from "../reasons/reason.ts";
import { type PlacementContext, tenantsOf } from "./context.ts";
import { gpuCordon, nodeCordon } from "./filters/cordon.ts";
import { engine } from "./filters/engine.ts";
import { gpuHealth } from "./filters/gpu-health.ts";
import { byType, gpuCount, largest, sameType } from "./filters/group.ts";
import { gpuPins, nodeLabels } from "./filters/labels.ts";
import { liveness } from "./filters/liveness.ts";
import { gpuMemory } from "./filters/memory.ts";
import type { GpuRule, NodeRule } from "./filters/rule.ts";
import { source } from "./filters/source.ts";
import { type FreeMemory, gpuFreeMib, gpuHolders } from "./free-memory.ts";
import type { GpuHolder, PlacementRule, RuleResult } from "./record.ts";

/** Rules about a whole node. */
export const nodeRules = { labels: nodeLabels, cordon: nodeCordon, liveness, engine, source } satisfies Partial<
  Record<PlacementRule, NodeRule>
>;

/** Rules about one GPU, in order. */
const gpuRules = [
  ["labels", gpuPins],
  ["cordon", gpuCordon],
  ["gpu_health", gpuHealth],
  ["memory", gpuMemory],
] as const satisfies readonly (readonly [PlacementRule, GpuRule])[];

export interface GpuEvaluation {
  readonly gpu: Gpu;
  readonly free: FreeMemory;
  readonly totalMib: number | null;
  readonly holders: readonly GpuHolder[];
  readonly results: readonly RuleResult[];
  readonly accepted: boolean;
}

export interface NodeEvaluation {
  readonly node: Node;
  readonly results: readonly RuleResult[];
  readonly firstFailure: { readonly rule: PlacementRule; readonly reason: Reason } | null;
  /** By index, then UUID. */
  readonly gpus: readonly GpuEvaluation[];
}

/**
 * Runs every rule on a node and on each of its GPUs. A GPU has its own verdict. The node fails, beside its own rules,
 * the one GPU rule at which the GPUs left over become too few for a shard: so a node passes all rules exactly when a
 * shard fits on it.
 */
export function evaluateNode(node: Node, context: PlacementContext): NodeEvaluation {
  const gpus = [...node.gpus].sort(byIndex).map((gpu) => evaluateGpu(gpu, node, context));
  const after = (rule: PlacementRule): readonly GpuEvaluation[] => gpus.filter((gpu) => passesUpTo(gpu, rule));
  const need = context.model.spec.resources.tp;
  const pinned = after("labels");
  const uncordoned = after("cordon");
  const healthy = after("gpu_health");
  const usable = healthy.map((found) => found.gpu);

  const results = [
    result("labels", nodeRules.labels(node, context) ?? lost("labels", { before: gpus, after: pinned, need })),
    result("cordon", nodeRules.cordon(node, context) ?? lost("cordon", { before: pinned, after: uncordoned, need })),
    result("liveness", nodeRules.liveness(node, context)),
    result("gpu_health", lost("gpu_health", { before: uncordoned, after: healthy, need })),
    result("engine", nodeRules.engine(node, context)),
    result("source", nodeRules.source(node, context)),
    result("gpu_count", gpuCount({ node, gpus: usable, context })),
    result("same_type", sameType({ node, gpus: usable, context })),
    result("memory", groupMemory({ node, healthy, context })),
  ];
  return { node, results, firstFailure: firstFailure(results), gpus };
}

export function evaluateGpu(gpu: Gpu, node: Node, context: PlacementContext): GpuEvaluation {
  const tenants = tenantsOf(context, gpu);
  const reserveMib = context.settings.reserveMibPerGpu;
  const results = gpuRules.map(([rule, check]) => result(rule, check(gpu, node, context)));
  return {
    gpu,
    free: gpuFreeMib(gpu, tenants, reserveMib),
    totalMib: readingOrNull(gpu.totalMib),
    holders: gpuHolders(gpu, tenants, reserveMib),
    results,
    accepted: results.every((found) => found.pass),
  };
}

export function firstFailure(results: readonly RuleResult[]): NodeEvaluation["firstFailure"] {
  for (const found of results) if (!found.pass) return { rule: found.rule, reason: found.reason };
  return null;
}

function passesUpTo(evaluation: GpuEvaluation, last: PlacementRule): boolean {
  for (const found of evaluation.results) {
    if (!found.pass) return false;
    if (found.rule === last) return true;
  }
  return true;
}

interface Attrition {
  readonly before: readonly GpuEvaluation[];
  readonly after: readonly GpuEvaluation[];
  readonly need: number;
}

/** The rule took the node below what a shard needs: the first GPU it took says why. */
function lost(rule: PlacementRule, { before, after, need }: Attrition): Reason | null {
  if (before.length < need || after.length >= need) return null;
  for (const { results } of before) {
    const found = results.find((candidate) => candidate.rule === rule);
    if (found?.pass === false) return found.reason;
  }
  return null;
}

interface MemoryQuestion {
  readonly node: Node;
  readonly healthy: readonly GpuEvaluation[];
  readonly context: PlacementContext;
}

/** Enough GPUs of one type that each have the memory. Not asked where same_type or an earlier rule already says no. */
function groupMemory({ node, healthy, context }: MemoryQuestion): Reason | null {
  const { tp: need, memoryPerGpuMib: needMib } = context.model.spec.resources;
  if (largest(byType(healthy.map((found) => found.gpu))) < need) return null;
  const found = largest(byType(healthy.filter((candidate) => candidate.accepted).map((candidate) => candidate.gpu)));
  if (found >= need) return null;
  const short = healthy.filter((candidate) => !candidate.accepted);
  if (need === 1) return nearestOf(short);
  const heldBy = new Set(short.flatMap(({ holders }) => holders.filter(isHeld).map((holder) => holder.id)));
  return reason("too_few_free_gpus", { node: node.name, found, need, needMib, heldBy: [...heldBy].join(", ") });
}

/** The reason of the GPU that is nearest to fitting: most free memory among those short of it, else the first. */
function nearestOf(short: readonly GpuEvaluation[]): Reason | null {
  let nearest: Reason | null = null;
  let mostFreeMib = -1;
  for (const { results } of short) {
    const failure = firstFailure(results)?.reason ?? null;
    if (failure?.code === "gpu_memory_short" && failure.params.freeMib > mostFreeMib) {
      mostFreeMib = failure.params.freeMib;
      nearest = failure;
    }
    nearest ??= failure;
  }
  return nearest;
}

const isHeld = (holder: GpuHolder): boolean => holder.kind !== "reserve";

const byIndex = (a: Gpu, b: Gpu): number => a.index - b.index || (a.uuid < b.uuid ? -1 : a.uuid > b.uuid ? 1 : 0);

function result(rule: PlacementRule, failure: Reason | null): RuleResult {
  return failure === null ? { rule, pass: true } : { rule, pass: false, reason: failure };
}
