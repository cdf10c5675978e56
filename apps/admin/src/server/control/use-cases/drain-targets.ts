import { done, type Outcome, refused } from "@llmgw/api/server";
import { type ControlSettings, type DrainTarget, drainCovers, type Gpu, type Node } from "@llmgw/domain";
import type { ViewContext } from "../views/context.ts";
import { unknown } from "./dependencies.ts";
import { findGpu, findNode } from "./find.ts";

/** One thing to be drained, with what its sentences name. */
export interface NamedTarget {
  readonly target: DrainTarget;
  readonly node: Node;
  readonly gpu: Gpu | null;
}

export function nodeTarget(node: Node, gpu: Gpu | null): NamedTarget {
  return { target: { nodeId: node.id, gpuUuid: gpu?.uuid ?? null, replica: null }, node, gpu };
}

/** A replica as it runs now: its present generation, wherever its head is. */
export function replicaTarget(context: ViewContext, wanted: string): Outcome<NamedTarget> {
  const { replicas } = context.world.snapshot;
  const running = replicas.filter((one) => one.phase !== "stopped");
  const replica = running.find((one) => one.id === wanted);
  const ids = running.map((one) => one.id);
  if (replica === undefined) return unknown("replica", wanted, ids);
  const shard = replica.shards.find((one) => one.releasedAtMs === null && one.generation === replica.generation);
  const node = shard === undefined ? undefined : context.nodes.get(shard.nodeId);
  if (node === undefined) {
    const message = `${replica.id} runs nowhere (it is ${replica.phase}): there is nothing to drain.`;
    return refused({ kind: "conflict", message });
  }
  const { id, generation } = replica;
  return done({ target: { nodeId: node.id, gpuUuid: null, replica: { id, generation } }, node, gpu: null });
}

/** Everything that a question about a drain names. */
export function findTargets(
  context: ViewContext,
  wanted: {
    readonly nodes: readonly string[];
    readonly gpus: readonly { readonly node: string; readonly gpu: string }[];
    readonly replicas: readonly string[];
  },
): Outcome<readonly NamedTarget[]> {
  const found: NamedTarget[] = [];
  for (const name of wanted.nodes) {
    const node = findNode(context, name);
    if (!node.ok) return node;
    found.push(nodeTarget(node.value, null));
  }
  for (const one of wanted.gpus) {
    const node = findNode(context, one.node);
    if (!node.ok) return node;
    const gpu = findGpu(node.value, one.gpu);
    if (!gpu.ok) return gpu;
    found.push(nodeTarget(node.value, gpu.value));
  }
  for (const id of wanted.replicas) {
    const replica = replicaTarget(context, id);
    if (!replica.ok) return replica;
    found.push(replica.value);
  }
  return done(found);
}

/**
 * The grace of a drain that states none: the longest that a model on it asks for, with the default for those that ask for
 * none.
 */
export function usualGraceMs(
  context: ViewContext,
  targets: readonly DrainTarget[],
  settings: Pick<ControlSettings, "defaultGraceMs">,
): number {
  const { models, replicas } = context.world.snapshot;
  const leaving = replicas.filter((replica) =>
    replica.shards.some((shard) => shard.releasedAtMs === null && targets.some((one) => drainCovers(one, shard))),
  );
  const ids = new Set(leaving.map((replica) => replica.modelId));
  const asked = models.filter((model) => ids.has(model.id)).map((model) => model.spec.drain.graceMs);
  return asked.length === 0 ? settings.defaultGraceMs : Math.max(...asked.map((ms) => ms ?? settings.defaultGraceMs));
}
