import { defaultControlSettings, type PlacementRecord, place, placementRules } from "@llmgw/domain";
import { aCordon, aModel, aNode, aSnapshot } from "@llmgw/domain/testing";
import { describe, expect, test } from "vitest";
import { funnelOf, shortReason } from "./rule-words.ts";

function aRecord(): PlacementRecord {
  const nodes = [
    aNode({ name: "a" }),
    aNode({ name: "b", cordons: [aCordon({ nodeId: "node_b", by: "jonas" })] }),
    aNode({ name: "c", gpus: 1 }),
  ];
  const model = aModel({ spec: { resources: { tp: 2 } } });
  const snapshot = aSnapshot({ nodes, models: [model] });
  return place({ model, replicaId: null, snapshot, settings: defaultControlSettings });
}

describe("a placement decision as the matrix shows it", () => {
  test("the funnel loses each node once, and ends with the nodes that fit", () => {
    const record = aRecord();
    const funnel = funnelOf(record, placementRules);
    expect(funnel.filter(({ before, after }) => after < before).map(({ rule }) => rule)).toEqual([
      "cordon",
      "gpu_count",
    ]);
    expect(funnel[0]?.before).toBe(3);
    expect(funnel.at(-1)?.after).toBe(record.counts.accepted);
  });

  test("a failed check keeps the number that decides", () => {
    const reasons = aRecord().candidates.flatMap((node) =>
      node.results.flatMap((result) => (result.pass ? [] : [shortReason(result.reason)])),
    );
    expect(reasons).toContainEqual({ word: "cordoned", detail: "jonas" });
    expect(reasons).toContainEqual({ word: "1 of 2", detail: "GPUs" });
  });
});
