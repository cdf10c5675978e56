import { aNode, aReplica, aShard, aSnapshot } from "@llmgw/domain/testing";
import { describe, expect, it } from "vitest";
import { shardGroup } from "./shard-group.ts";

const nodes = [aNode({ id: "node_a", address: "10.0.0.1" }), aNode({ id: "node_b", address: "10.0.0.2" })];

function groupOf(generation: number, ranks: readonly { readonly nodeId: string; readonly rank: number }[]) {
  const shards = ranks.map((place) => aShard({ replicaId: "big-abcde", generation, ...place }));
  const [first] = shards;
  if (first === undefined) throw new Error("a replica has shards");
  return shardGroup(aSnapshot({ nodes, replicas: [aReplica({ id: "big-abcde", generation, shards })] }), first);
}

describe("the group of a shard", () => {
  const both = [
    { nodeId: "node_b", rank: 1 },
    { nodeId: "node_a", rank: 0 },
  ];

  it("is none for a replica of one process", () => {
    expect(groupOf(1, [{ nodeId: "node_a", rank: 0 }])).toBeNull();
  });

  it("lists the machines by rank, with ports that each admin names alike and no two ranks share", () => {
    const group = groupOf(1, both);
    expect(group?.ranks.map(({ address }) => address)).toEqual(["10.0.0.1", "10.0.0.2"]);
    expect(groupOf(1, both)).toEqual(group);
    expect(new Set(group?.ranks.map(({ port }) => port)).size).toBe(2);
  });

  it("has other ports in the next generation, so that a taken one costs one start", () => {
    expect(groupOf(2, both)?.ranks[0]?.port).not.toBe(groupOf(1, both)?.ranks[0]?.port);
  });
});
