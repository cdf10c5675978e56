import { describe, expect, it } from "vitest";
import { type ClusterSnapshot, defaultControlSettings as settings } from "../cluster/snapshot.ts";
import { describeReason } from "../reasons/catalogue.ts";
import {
  aCordon,
  aDrain,
  aGpu,
  aGpuHealth,
  aModel,
  aNode,
  aServingReplica,
  aSnapshot,
  testNowMs,
} from "../testing/index.ts";
import { recheckPlacement } from "./recheck.ts";
import type { ShardPlacement } from "./record.ts";

const model = aModel();
const planned: ShardPlacement = { rank: 0, nodeId: "node_a", gpuUuids: ["GPU-node_a-0"], memoryMibPerGpu: 20_480 };

function recheck(now: Partial<ClusterSnapshot>, shards: readonly ShardPlacement[] = [planned]): string {
  const snapshot = aSnapshot({ nodes: [aNode()], models: [model], ...now });
  const found = recheckPlacement({ modelId: "m", replicaId: "m-bbbbb", shards }, snapshot, settings);
  return found.ok ? "ok" : describeReason(found.reason);
}

describe("a placement is re-checked when it is committed", () => {
  it("holds while nothing changed", () => {
    expect(recheck({})).toBe("ok");
  });

  it.each<[string, Partial<ClusterSnapshot>, string]>([
    [
      "the node was cordoned",
      { nodes: [aNode({ cordons: [aCordon()] })] },
      "a is cordoned by op1 (operator): maintenance",
    ],
    ["the node is being drained", { drains: [aDrain()] }, "a is draining, started by op1"],
    ["the node went silent", { nodes: [aNode({ lastSeenAtMs: testNowMs - 20_000 })] }, "a has been silent for 20 s"],
    ["the node is gone", { nodes: [] }, "node_a is not in the cluster any more"],
    ["the GPU is gone", { nodes: [aNode({ gpus: 0 })] }, "a GPU-node_a-0 is not in its node any more"],
    [
      "the GPU fell ill",
      { nodes: [aNode({ gpus: [aGpu({ health: aGpuHealth({ schedulable: false }) })] })] },
      "health of a GPU 0 cannot be read",
    ],
    [
      "a stranger took the memory",
      { nodes: [aNode({ gpus: [aGpu({ usedMib: 70_000 })] })] },
      "a GPU 0 has 11.2 GiB free, needs 20.0 GiB: 8.8 GiB short",
    ],
    [
      "another replica took the GPU",
      { replicas: [aServingReplica(aModel({ id: "t" }), aNode())] },
      "a GPU 0 is held by t-aaaaa/0",
    ],
    ["the model was deleted", { models: [{ ...model, deletedAtMs: testNowMs }] }, "m was deleted"],
  ])("fails when %s", (_, now, expected) => {
    expect(recheck(now)).toBe(expected);
  });

  it("refuses an allocation with no GPUs, with too many, or with one GPU twice", () => {
    expect(recheck({}, [{ ...planned, gpuUuids: [] }])).toBe("a has 0 GPUs, needs 1");
    expect(recheck({}, [{ ...planned, gpuUuids: ["GPU-node_a-0", "GPU-node_a-0"] }])).toMatch(/is held by/);
    expect(recheck({}, [planned, { ...planned, rank: 1 }])).toMatch(/is held by/);
    expect(recheck({}, [{ ...planned, gpuUuids: ["GPU-node_a-0", "GPU-node_a-1"] }])).toBe("a has 2 GPUs, needs 1");
  });

  it("checks the memory that was promised, whatever the spec says by now", () => {
    expect(recheck({}, [{ ...planned, memoryMibPerGpu: 90_000 }])).toMatch(/needs 87.9 GiB/);
  });
});
