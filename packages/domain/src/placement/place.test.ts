import { describe, expect, it } from "vitest";
import type { Node } from "../cluster/node.ts";
import { type ClusterSnapshot, defaultControlSettings as settings } from "../cluster/snapshot.ts";
import { describeReason } from "../reasons/catalogue.ts";
import {
  aDrain,
  aGpu,
  aGpuHealth,
  aModel,
  aNode,
  aReplica,
  aServingReplica,
  aSnapshot,
  testNowMs,
} from "../testing/index.ts";
import type { PlacementQuestion } from "./context.ts";
import { place } from "./place.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => aNode({ name })) as [Node, Node, Node];
const model = aModel();

function decide(snapshot: Partial<ClusterSnapshot>, question: Partial<PlacementQuestion> = {}) {
  return place({ model, replicaId: null, snapshot: aSnapshot(snapshot), settings, ...question });
}

/** `node: GPU UUIDs, then runner-up`, or the reason why nothing fits. */
function outcome(...question: Parameters<typeof decide>): string {
  const found = decide(...question).outcome;
  if (found.kind === "no_fit") return describeReason(found.reason);
  return `${found.nodeName}: ${found.shards.flatMap((shard) => shard.gpuUuids).join("+")}, then ${found.runnerUp}`;
}

describe("which of several places wins", () => {
  it("ties go to the lower id and the lower index", () => {
    expect(outcome({ nodes: [b, c, a] })).toBe("a: GPU-node_a-0, then b");
  });

  it("spreads replicas of one model over nodes, also within one plan", () => {
    expect(outcome({ nodes: [a, b], replicas: [aServingReplica(model, a)] })).toBe("b: GPU-node_b-0, then a");
    const placed = [
      {
        replicaId: "m-bbbbb",
        modelId: "m",
        rank: 0,
        nodeId: "node_a",
        gpuUuids: ["GPU-node_a-0"],
        memoryMibPerGpu: 20_480,
        shareGpu: false,
      },
    ];
    expect(outcome({ nodes: [a, b] }, { assume: { placed } })).toBe("b: GPU-node_b-0, then a");
  });

  it("prefers an empty node that came back for a model whose replicas share another", () => {
    const replicas = [aServingReplica(model, b), aServingReplica(model, c, { id: "m-bbbbb" })];
    expect(outcome({ nodes: [b, c, a], replicas })).toBe("a: GPU-node_a-0, then b");
  });

  it("packs a different model beside others and keeps a pair of GPUs whole for a model that needs two", () => {
    const replicas = [aServingReplica(aModel({ id: "t" }), b)];
    expect(outcome({ nodes: [a, b], replicas })).toBe("b: GPU-node_b-1, then a");
    const pair = aModel({ spec: { resources: { tp: 2 } } });
    expect(outcome({ nodes: [a, b], replicas }, { model: pair })).toBe("a: GPU-node_a-0+GPU-node_a-1, then null");
  });

  it("prefers the node with the weights on disk", () => {
    const warm = aNode({ name: "b", sources: { "example/m-7b": "present" } });
    expect(outcome({ nodes: [a, warm] })).toBe("b: GPU-node_b-0, then a");
  });

  it("avoids a node where this model failed lately, and forgets that after the window", () => {
    const failed = (atMs: number) => [aReplica({ failures: [{ atMs, nodeId: "node_a" }] })];
    expect(outcome({ nodes: [a, b], replicas: failed(testNowMs - 60_000) })).toBe("b: GPU-node_b-0, then a");
    expect(outcome({ nodes: [a, b], replicas: failed(testNowMs - 301_000) })).toBe("a: GPU-node_a-0, then b");
    expect(outcome({ nodes: [a, b] }, { penalties: new Map([["node_a", 2]]) })).toBe("b: GPU-node_b-0, then a");
  });

  it("takes a degraded card only when no healthy one is to be had", () => {
    const worn = aGpu({ index: 0, health: aGpuHealth({ status: "degraded" }), uuid: "GPU-worn" });
    expect(outcome({ nodes: [aNode({ gpus: [worn, aGpu({ index: 1, uuid: "GPU-ok" })] })] })).toMatch(/^a: GPU-ok/);
    expect(outcome({ nodes: [aNode({ gpus: [worn] }), b] })).toBe("b: GPU-node_b-0, then a");
    expect(outcome({ nodes: [aNode({ gpus: [worn] })] })).toBe("a: GPU-worn, then null");
  });

  it("takes the smallest type of card that fits, and the card that is shared already", () => {
    const small = aGpu({ index: 1, uuid: "GPU-small", name: "NVIDIA L40S", totalMib: 46_068 });
    expect(outcome({ nodes: [aNode({ gpus: [aGpu(), small] })] })).toMatch(/^a: GPU-small/);
    const sharing = (id: string) => aModel({ id, spec: { resources: { shareGpu: true } } });
    const replicas = [aServingReplica(sharing("t"), a, { gpuUuids: ["GPU-node_a-1"] })];
    expect(outcome({ nodes: [a], replicas }, { model: sharing("m") })).toMatch(/^a: GPU-node_a-1/);
  });
});

describe("what a placement takes into account", () => {
  it("holds what its own replica held before until that process is confirmed dead, unless told otherwise", () => {
    const one = aNode({ gpus: 1 });
    const failed = aServingReplica(model, one, { phase: "failed" });
    const snapshot = { nodes: [one], replicas: [failed] };
    expect(outcome(snapshot, { replicaId: failed.id })).toContain("a GPU 0 is held by m-aaaaa/0");
    const assume = { freed: new Set([failed.id]) };
    expect(outcome(snapshot, { replicaId: failed.id, assume })).toBe("a: GPU-node_a-0, then null");
  });

  it("leaves out the nodes it is told to, and says so", () => {
    const exclude = new Set(["node_a"]);
    expect(outcome({ nodes: [a, b] }, { exclude })).toBe("b: GPU-node_b-0, then null");
    expect(outcome({ nodes: [a] }, { exclude })).toContain("a is left out of this decision");
  });

  it("stamps the record with the snapshot's version and time, and what was needed", () => {
    expect(decide({ nodes: [a, b], version: 42 }, { replicaId: "m-ccccc" })).toMatchObject({
      modelId: "m",
      replicaId: "m-ccccc",
      snapshotVersion: 42,
      atMs: testNowMs,
      need: { gpus: 1, memoryMibPerGpu: 20_480, engine: "vllm" },
      counts: { nodes: 2, accepted: 2 },
    });
  });
});

describe("when nothing fits, the nearest candidate says why", () => {
  it("an empty cluster is not a full one", () => {
    expect(outcome({})).toBe("no node has joined yet, so m has nowhere to run");
  });

  it("a full node is nearer than a draining one, and the smaller shortage is nearer", () => {
    const full = (name: string, usedMib: number) => aNode({ name, gpus: [aGpu({ usedMib })] });
    const nodes = [a, full("b", 75_000), full("c", 65_000)];
    expect(outcome({ nodes, drains: [aDrain()] })).toBe(
      "no node fits m: 3 considered; nearest: c GPU 0 has 16.1 GiB free, needs 20.0 GiB: 3.9 GiB short",
    );
  });

  it("enough in total and nowhere enough: names the largest node and who holds the rest", () => {
    const four = (name: string, gpus: number, held: number) => {
      const node = aNode({ name, gpus: 4 });
      const replicas = Array.from({ length: held }, (_, index) =>
        aServingReplica(aModel({ id: "t" }), node, {
          id: `t-${name}aaa${index}`,
          gpuUuids: [`GPU-node_${name}-${index}`],
        }),
      );
      return { node: { ...node, gpus: node.gpus.slice(0, held + gpus) }, replicas };
    };
    const nodes = [four("a", 1, 3), four("b", 2, 2), four("c", 1, 3)];
    const snapshot = { nodes: nodes.map((found) => found.node), replicas: nodes.flatMap((found) => found.replicas) };
    const text = outcome(snapshot, { model: aModel({ spec: { resources: { tp: 4 } } }) });
    expect(text).toBe(
      "no node fits m: 3 considered; nearest: b has 2 GPUs of one type with 20.0 GiB free, needs 4; others are held by t-baaa0/0, t-baaa1/0",
    );
  });
});
