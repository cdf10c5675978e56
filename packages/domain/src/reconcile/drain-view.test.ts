import { describe, expect, test } from "vitest";
import { aModel, aNode } from "../testing/index.ts";
import { Scenario } from "../testing/scenario.ts";
import { drainView } from "./drain-view.ts";
import { previewDrain } from "./preview-drain.ts";

/** Three models, one replica each, on node a with 3 GPUs. */
function threeOnA(): Scenario {
  const scenario = new Scenario({
    nodes: [aNode({ name: "a", gpus: 3 })],
    models: ["long", "loads", "waits"].map((id) => aModel({ id })),
  });
  scenario.tickUntil(() => scenario.inPhase("serving").length === 3);
  return scenario;
}

function viewOf(scenario: Scenario) {
  const drain = scenario.openOrEnded("drain_node_a");
  return drainView({ drain, snapshot: scenario.store.snapshot(), settings: scenario.store.settings });
}

describe("the view of a drain", () => {
  test("says of each replica its step, reason, age, next step and deadline", () => {
    const scenario = threeOnA();
    const of = (modelId: string): string =>
      scenario.inPhase("serving", "moving", "draining").find((one) => one.modelId === modelId && one.replaces === null)
        ?.id ?? "";
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 2 }));
    const long = of("long");
    scenario.inflight.set(`r1 ${long}`, 4);
    scenario.engineRunning.set(long, 4);
    const drain = scenario.drain("node_a");
    scenario.tick();
    for (const replica of scenario.inPhase("starting"))
      if (replica.modelId === "loads") scenario.loading.add(replica.id);
    scenario.ticks(20);

    const moves = new Map(viewOf(scenario).moves.map((move) => [move.modelId, move]));
    expect(moves.get("long")).toMatchObject({
      step: "draining",
      reason: { code: "draining_inflight", params: { inflight: 4 } },
      inflight: 4,
      nextStep: "stopping",
      deadlineAtMs: null,
    });
    expect(moves.get("loads")).toMatchObject({
      step: "loading",
      reason: { code: "awaiting_engine", params: { node: "b" } },
      loadRatio: 0.63,
      nextStep: "replacementServing",
      deadlineAtMs: drain.deadlineAtMs,
    });
    expect(moves.get("waits")).toMatchObject({
      step: "placing",
      reason: { code: "waits_for_capacity", params: { deadlineMs: drain.deadlineAtMs } },
      deadlineAtMs: drain.deadlineAtMs,
    });
    for (const move of moves.values()) expect(move.stepForMs).toBeGreaterThanOrEqual(0);
    expect(viewOf(scenario)).toMatchObject({
      unconfirmedShards: 3,
      counts: { placing: 1, loading: 1, draining: 1, stopped: 0 },
      waitingFor: { code: "waits_for_capacity" },
    });
  });

  test("names the process that does not end, and never calls the node drained while it lives", () => {
    const scenario = threeOnA();
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 3 }));
    const stubborn = scenario.inPhase("serving")[0]?.id ?? "";
    scenario.undying.add(stubborn);
    scenario.drain("node_a");
    scenario.ticks(120);
    expect(viewOf(scenario)).toMatchObject({
      drain: { endedAtMs: null },
      unconfirmedShards: 1,
      waitingFor: { code: "stopping_process", params: { node: "a", pid: 7_001 } },
    });
    scenario.undying.clear();
    scenario.tick();
    expect(viewOf(scenario)).toMatchObject({ drain: { result: "complete" }, unconfirmedShards: 0, waitingFor: null });
  });
});

describe("the preview of a drain", () => {
  function preview(scenario: Scenario, nodeIds: readonly string[] = ["node_a"]) {
    const { store } = scenario;
    return previewDrain({
      targets: nodeIds.map((nodeId) => ({ nodeId, gpuUuid: null, replica: null })),
      graceMs: 30_000,
      snapshot: store.snapshot(),
      settings: store.settings,
    });
  }

  test("tells where each replica goes, what waits for room, what cannot move and what stops at once", () => {
    const scenario = new Scenario({
      nodes: [aNode({ name: "a", gpus: 6 }), aNode({ name: "b", gpus: 2 })],
      models: [aModel({ id: "big", spec: { resources: { tp: 3 } } }), aModel({ id: "small", spec: { replicas: 2 } })],
    });
    scenario.store.nodes.set("node_b", { ...scenario.node("node_b"), lastSeenAtMs: null });
    scenario.silentNodes.add("node_b");
    scenario.tickUntil(() => scenario.inPhase("serving").length === 3);
    scenario.silentNodes.clear();
    scenario.scale("small", 3);
    scenario.tick();
    const starting = scenario.inPhase("starting");
    const forecast = preview(scenario);
    const outcomes = forecast.moves.map((move) => `${move.modelId} ${move.outcome}`);
    expect(starting).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "big cannot_move")).toHaveLength(1);
    expect(forecast.moves.find((move) => move.modelId === "big")?.reason).toMatchObject({
      code: "no_fit",
      params: { nearestReason: { code: "too_few_gpus", params: { found: 2, need: 3 } } },
    });
    expect(forecast.moves.filter((move) => move.target.length > 0).length).toBeLessThanOrEqual(2);
    expect(forecast.models.find((model) => model.modelId === "big")).toMatchObject({
      modelId: "big",
      desired: 1,
      servingBefore: 1,
      servingLowest: 0,
    });
    expect(forecast.deadlineAtMs - forecast.atMs).toBe(30_000);
  });

  test("says that a move waits when another replica holds the room", () => {
    const scenario = new Scenario({
      nodes: [aNode({ name: "a", gpus: 1 }), aNode({ name: "b", gpus: 1 })],
      models: [aModel({ spec: { replicas: 2 } })],
    });
    scenario.tickUntil(() => scenario.inPhase("serving").length === 2);
    expect(preview(scenario).moves).toMatchObject([{ outcome: "waits", reason: { code: "no_fit" } }]);
    expect(preview(scenario).models).toMatchObject([{ servingBefore: 2, servingLowest: 1 }]);
  });

  test("is what the drain then does", () => {
    const scenario = threeOnA();
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 2 }));
    scenario.store.nodes.set("node_c", aNode({ name: "c", gpus: 1 }));
    scenario.tick();
    const promised = new Map(preview(scenario).moves.map((move) => [move.replicaId, move.target[0]?.nodeId]));
    expect([...promised.values()].toSorted((a = "", b = "") => (a < b ? -1 : 1))).toEqual([
      "node_b",
      "node_b",
      "node_c",
    ]);
    scenario.drain("node_a");
    scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").result === "complete");
    for (const replacement of scenario.inPhase("serving")) {
      expect(scenario.homeOf(replacement.id)).toBe(promised.get(replacement.replaces ?? ""));
    }
  });

  test("counts a node that is drained with it as gone too", () => {
    const scenario = threeOnA();
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 3 }));
    scenario.tick();
    const outcomes = preview(scenario, ["node_a", "node_b"]).moves.map((move) => move.outcome);
    expect(outcomes).toEqual(["cannot_move", "cannot_move", "cannot_move"]);
  });
});
