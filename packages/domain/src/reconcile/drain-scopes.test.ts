import { describe, expect, test } from "vitest";
import { aModel, aNode } from "../testing/index.ts";
import { Scenario } from "../testing/scenario.ts";
import { previewDrain } from "./preview-drain.ts";
import { surgeNeeded } from "./surge.ts";

function serving(options: { readonly nodes: Record<string, number>; readonly replicas: number }): Scenario {
  const scenario = new Scenario({
    nodes: Object.entries(options.nodes).map(([name, gpus]) => aNode({ name, gpus })),
    models: [aModel({ spec: { replicas: options.replicas } })],
  });
  scenario.tickUntil(() => scenario.inPhase("serving").length === options.replicas);
  return scenario;
}

describe("a drain of one GPU", () => {
  test("moves what runs on it, leaves the node's other GPUs alone, and keeps that GPU empty until it is lifted", () => {
    const scenario = serving({ nodes: { a: 3 }, replicas: 2 });
    const [moved, stays] = scenario.inPhase("serving");
    const gpuUuid = moved?.shards[0]?.gpuUuids[0] ?? "";
    const drain = scenario.drain("node_a", { gpuUuid });
    scenario.tickUntil(() => scenario.openOrEnded(drain.id).endedAtMs !== null);
    expect(scenario.openOrEnded(drain.id).result).toBe("complete");
    const after = scenario.inPhase("serving");
    expect(after.map(({ id }) => id)).toContain(stays?.id);
    expect(after.flatMap(({ shards }) => shards.flatMap((shard) => shard.gpuUuids))).not.toContain(gpuUuid);
    scenario.scale("m", 3);
    scenario.ticks(20);
    expect(scenario.inPhase("serving")).toHaveLength(2);
    expect(scenario.inPhase("pending")).toHaveLength(1);
    scenario.uncordon("node_a");
    scenario.tickUntil(() => scenario.inPhase("serving").length === 3);
  });
});

describe("a drain of one replica", () => {
  test("moves it and nothing else, cordons nothing, and its id does not come back", () => {
    const scenario = serving({ nodes: { a: 2, b: 1 }, replicas: 2 });
    const [moved, stays] = scenario.inPhase("serving");
    const replica = { id: moved?.id ?? "", generation: moved?.generation ?? 0 };
    const drain = scenario.drain(scenario.homeOf(replica.id) ?? "", { replica });
    scenario.tickUntil(() => scenario.openOrEnded(drain.id).endedAtMs !== null);
    expect(scenario.openOrEnded(drain.id).result).toBe("complete");
    expect(scenario.replica(replica.id).phase).toBe("stopped");
    expect(scenario.replica(stays?.id ?? "").phase).toBe("serving");
    expect(scenario.node("node_a").cordons).toEqual([]);
    expect(scenario.inPhase("serving")).toHaveLength(2);
  });

  test("one that still loads is stopped at once and starts anew, and the drain is over then", () => {
    const scenario = new Scenario({ nodes: [aNode({ name: "a", gpus: 2 })], models: [aModel()] });
    scenario.tick();
    const [starting] = scenario.inPhase("starting");
    const id = starting?.id ?? "";
    scenario.loading.add(id);
    const drain = scenario.drain("node_a", { replica: { id, generation: 1 } });
    scenario.ticks(4);
    expect(scenario.openOrEnded(drain.id).result).toBe("complete");
    expect(scenario.replica(id)).toMatchObject({ phase: "starting", generation: 2 });
  });
});

describe("GPU health that says move", () => {
  test("is a rolling move: the replacement serves before the original goes", () => {
    const scenario = serving({ nodes: { a: 2 }, replicas: 1 });
    const [original] = scenario.inPhase("serving");
    const bad = original?.shards[0]?.gpuUuids[0];
    const node = scenario.node("node_a");
    const gpus = node.gpus.map((gpu) => ({
      ...gpu,
      health: gpu.uuid === bad ? { ...gpu.health, schedulable: false, evict: "move" as const } : gpu.health,
    }));
    scenario.store.nodes.set("node_a", { ...node, gpus });
    scenario.tick();
    expect(scenario.replica(original?.id ?? "")).toMatchObject({ phase: "moving", reason: { code: "moving_for_gpu" } });
    for (let tick = 0; tick < 60; tick += 1) {
      scenario.tick();
      expect(scenario.inPhase("serving", "moving").length).toBeGreaterThanOrEqual(1);
    }
    expect(scenario.replica(original?.id ?? "").phase).toBe("stopped");
    expect(scenario.inPhase("serving")).toHaveLength(1);
  });
});

describe("surge", () => {
  test("is what lets the moves end in time: each k-th may follow floor(time left / one move) others", () => {
    expect(surgeNeeded([60_000, 60_000, 60_000], 20_000)).toBe(1);
    expect(surgeNeeded([60_000, 60_000, 60_000], 30_000)).toBe(2);
    expect(surgeNeeded([60_000, 60_000, 60_000], 61_000)).toBe(3);
    expect(surgeNeeded([10_000, 600_000], 20_000)).toBe(1);
    expect(surgeNeeded([], 20_000)).toBe(0);
  });

  test("of a drain with little time is raised as far as room exists, and only then", () => {
    for (const { graceMs, atOnce } of [
      { graceMs: 3_600_000, atOnce: 1 },
      { graceMs: 40_000, atOnce: 3 },
    ]) {
      const scenario = serving({ nodes: { a: 3 }, replicas: 3 });
      scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 3 }));
      const model = scenario.store.models.get("m");
      if (model !== undefined) scenario.store.models.set("m", { ...model, loadTimesMs: [30_000] });
      scenario.drain("node_a", { deadlineAtMs: scenario.store.nowMs + graceMs });
      scenario.tick();
      expect(scenario.inPhase("starting")).toHaveLength(atOnce);
    }
  });

  test("is told beforehand: time needed, the surge for this grace, and the grace that needs none", () => {
    const scenario = serving({ nodes: { a: 3 }, replicas: 3 });
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 3 }));
    const model = scenario.store.models.get("m");
    if (model !== undefined) scenario.store.models.set("m", { ...model, loadTimesMs: [50_000] });
    const { store } = scenario;
    const targets = [{ nodeId: "node_a", gpuUuid: null, replica: null }];
    const forecast = previewDrain({ targets, graceMs: 120_000, snapshot: store.snapshot(), settings: store.settings });
    expect(forecast).toMatchObject({ neededMs: 120_000, sufficientGraceMs: 180_000 });
    expect(forecast.models).toMatchObject([{ moves: 3, surge: 2, maxSurge: 1, moveMs: 60_000 }]);
  });
});

describe("the end of a drain", () => {
  test("is failed, with the pid, when a process outlives its deadline and every signal; the node stays cordoned", () => {
    const scenario = serving({ nodes: { a: 1, b: 1 }, replicas: 1 });
    const [original] = scenario.inPhase("serving");
    const id = original?.id ?? "";
    const home = scenario.homeOf(id) ?? "";
    scenario.undying.add(id);
    scenario.stuck.add(id);
    const drain = scenario.drain(home, { deadlineAtMs: scenario.store.nowMs + 60_000 });
    scenario.ticks(500);
    expect(scenario.openOrEnded(drain.id)).toMatchObject({
      result: "failed",
      losses: [{ replicaId: id, reason: { code: "loss_stuck_process" } }],
    });
    expect(scenario.node(home).cordons).toHaveLength(1);
  });
});
