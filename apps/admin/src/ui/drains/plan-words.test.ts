import type { DrainPreview } from "@llmgw/api";
import { describe, expect, test } from "vitest";
import { modelsAtZero, planVerdict } from "./plan-words.ts";

type PlannedMove = DrainPreview["moves"][number];

function aMove(replicaId: string, outcome: PlannedMove["outcome"]): PlannedMove {
  return {
    ...{ replicaId, modelId: "m", nodeName: "sim-1", outcome, target: null, reason: null },
    ...{ round: outcome === "moves" ? 1 : 0, gapFrom: null, inflight: 0 },
  };
}

function aPlan(with_: Partial<DrainPreview>): DrainPreview {
  return {
    plan: "p1",
    snapshotVersion: 7,
    at: "2026-11-30T14:11:52.000Z",
    graceMs: 3_600_000,
    nodes: [{ id: "n1", name: "sim-1" }],
    moves: [],
    models: [],
    neededMs: 0,
    sufficientGraceMs: 0,
    inflight: 0,
    ...with_,
  };
}

describe("what a drain plan says before anything is touched", () => {
  test("a replica that cannot move is named with the moment it stops", () => {
    const plan = aPlan({ moves: [aMove("a-1", "moves"), aMove("b-1", "cannot_move")], inflight: 5 });
    expect(planVerdict(plan, "sim-1", "15:12 UTC")).toEqual({
      state: "blocked",
      words: "1 of 2\u00a0replicas moves. b-1 cannot, and stops at 15:12 UTC with no replacement unless room appears.",
      detail:
        "Each replacement serves before its original drains. The 5\u00a0requests in flight finish where they are.",
    });
  });

  test("an empty node is said to be empty", () => {
    expect(planVerdict(aPlan({}), "sim-1", "15:12 UTC").words).toBe("Nothing runs on sim-1.");
  });

  test("the name must be typed only for a model that serves now and would not at some moment", () => {
    const moving = { moves: 1, surge: 1, maxSurge: 1, moveMs: 0, neededMs: 0, sufficientGraceMs: 0 };
    const models = [
      { modelId: "stays", servingBefore: 2, servingLowest: 1, servingAfter: 2 },
      { modelId: "was-down", servingBefore: 0, servingLowest: 0, servingAfter: 0 },
      { modelId: "dips", servingBefore: 1, servingLowest: 0, servingAfter: 1 },
    ];
    expect(modelsAtZero(aPlan({ models: models.map((model) => ({ ...moving, ...model })) }))).toEqual(["dips"]);
  });
});
