import { type PlacementQuestion, placementContext } from "./context.ts";
import { evaluateNode, type GpuEvaluation, type NodeEvaluation } from "./evaluate.ts";
import { noFit } from "./nearest.ts";
import { oneNode, type Proposal, type Stage } from "./one-node.ts";
import type { GpuCandidate, NodeCandidate, PlacementOutcome, PlacementRecord } from "./record.ts";

const stages: readonly Stage[] = [oneNode];

/**
 * Decides where a replica runs, and explains it: every rule runs on every node and every GPU, whether or not an earlier
 * one failed, so the record is both the decision and its explanation. There is no other way to place or to explain.
 * Deterministic: the same cluster in any order of its lists gives the same record; ties go to the lower node id.
 */
export function place(question: PlacementQuestion): PlacementRecord {
  const { model, replicaId, snapshot } = question;
  const context = placementContext(question);
  const nodes = snapshot.nodes.map((node) => evaluateNode(node, context)).sort(byName);
  const ranked = firstFit(nodes, context);
  const winner = ranked[0];
  const outcome: PlacementOutcome =
    winner === undefined
      ? { kind: "no_fit", reason: noFit(nodes, context) }
      : { kind: "placed", shards: winner.shards, nodeName: winner.nodeName, runnerUp: ranked[1]?.nodeName ?? null };

  const proposals = new Map(ranked.map((proposal) => [proposal.nodeId, proposal]));
  const chosen = new Set(winner?.shards.flatMap((shard) => shard.gpuUuids.map((uuid) => `${shard.nodeId}/${uuid}`)));
  const { tp, memoryPerGpuMib } = model.spec.resources;
  return {
    modelId: model.id,
    replicaId,
    snapshotVersion: snapshot.version,
    atMs: snapshot.nowMs,
    need: { gpus: tp, memoryMibPerGpu: memoryPerGpuMib, engine: model.spec.engine.name },
    candidates: nodes.map((node) => nodeCandidate(node, proposals.get(node.node.id), chosen)),
    counts: { nodes: nodes.length, accepted: nodes.filter((node) => node.firstFailure === null).length },
    outcome,
  };
}

/** Proposals of the first stage that has any, best first. */
function firstFit(nodes: readonly NodeEvaluation[], context: Parameters<Stage>[1]): readonly Proposal[] {
  for (const stage of stages) {
    const found = stage(nodes, context);
    if (found.length > 0) return [...found].sort((a, b) => b.score - a.score || compare(a.nodeId, b.nodeId));
  }
  return [];
}

function nodeCandidate(
  { node, results, firstFailure, gpus }: NodeEvaluation,
  proposal: Proposal | undefined,
  chosen: ReadonlySet<string>,
): NodeCandidate {
  return {
    nodeId: node.id,
    nodeName: node.name,
    accepted: firstFailure === null,
    firstFailed: firstFailure?.rule ?? null,
    results,
    gpus: gpus.map((found) => gpuCandidate(found, chosen.has(`${node.id}/${found.gpu.uuid}`))),
    scoreParts: proposal?.scoreParts ?? [],
    score: proposal?.score ?? null,
  };
}

function gpuCandidate(
  { gpu, free, totalMib, holders, results, accepted }: GpuEvaluation,
  chosen: boolean,
): GpuCandidate {
  const freeMib = free.kind === "known" ? free.freeMib : null;
  return { uuid: gpu.uuid, index: gpu.index, accepted, chosen, freeMib, totalMib, holders, results };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const byName = (a: NodeEvaluation, b: NodeEvaluation): number =>
  compare(a.node.name, b.node.name) || compare(a.node.id, b.node.id);
