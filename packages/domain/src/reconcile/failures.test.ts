import { describe, expect, test } from "vitest";
import { aModel, aNode } from "../testing/index.ts";
import { Scenario } from "../testing/scenario.ts";
import { backoffMs } from "./backoff.ts";

function serving(gpus = 1): { readonly scenario: Scenario; readonly id: string } {
  const scenario = new Scenario({ nodes: [aNode({ name: "a", gpus })], models: [aModel()] });
  scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
  return { scenario, id: scenario.inPhase("serving")[0]?.id ?? "" };
}

describe("crash back-off", () => {
  const { store } = new Scenario({ nodes: [], models: [] });

  test("is 0, then base, doubling to the cap, with at most a fifth of jitter", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8, 40].map((failures) => backoffMs(failures, "m-aaaaa", store.settings));
    const exact = [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000];
    for (const [index, delayMs] of delays.entries()) {
      const stepMs = exact[index] ?? 0;
      expect(delayMs).toBeGreaterThanOrEqual(stepMs);
      expect(delayMs).toBeLessThanOrEqual(Math.min(300_000, stepMs * 1.2));
    }
    expect(delays).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 40].map((failures) => backoffMs(failures, "m-aaaaa", store.settings)),
    );
  });
});

describe("an engine that crashes", () => {
  test("starts again at once, in the same place, as the next generation of the same replica", () => {
    const { scenario, id } = serving(2);
    const before = scenario.replica(id).shards[0]?.gpuUuids;
    scenario.exits.set(`${id}/1`, {});
    scenario.tick();
    const replica = scenario.replica(id);
    expect(replica).toMatchObject({ phase: "starting", generation: 2, offeredAtMs: null });
    expect(replica.failures).toHaveLength(1);
    expect(replica.shards.find((shard) => shard.generation === 2)?.gpuUuids).toEqual(before);
  });

  test("waits longer each time, and moves to another node after three failures in the window", () => {
    const { scenario, id } = serving();
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 1 }));
    scenario.crashing.set("node_a", {});
    const starts: string[] = [];
    for (let count = 0; count < 60; count += 1) {
      for (const action of scenario.tick()) {
        if (action.kind === "place_replica") starts.push(action.shards[0]?.nodeId ?? "");
      }
    }
    expect(starts).toEqual(["node_a", "node_a", "node_b"]);
    expect(scenario.replica(id).phase).toBe("serving");
  });

  test("keeps its GPU reserved through a short back-off: another model does not take it", () => {
    const { scenario, id } = serving();
    scenario.crashing.set("node_a", {});
    scenario.ticks(3);
    expect(scenario.replica(id).phase).toBe("failed");
    scenario.store.models.set("n", aModel({ id: "n" }));
    scenario.ticks(2);
    scenario.crashing.clear();
    scenario.tickUntil(() => scenario.replica(id).phase === "serving");
    expect(scenario.inPhase("pending").map((replica) => replica.modelId)).toEqual(["n"]);
  });

  test("with a bad configuration fails for good, until its model has another revision", () => {
    const { scenario, id } = serving();
    scenario.exits.set(`${id}/1`, { category: "bad_configuration", cause: "unknown flag --spped" });
    scenario.ticks(400);
    expect(scenario.replica(id)).toMatchObject({
      phase: "failed",
      generation: 1,
      reason: { code: "bad_configuration", params: { cause: "unknown flag --spped" } },
    });
    scenario.store.models.set("m", aModel({ revision: 2 }));
    scenario.tickUntil(() => scenario.replica(id).phase === "serving");
    expect(scenario.replica(id)).toMatchObject({ generation: 2, modelRevision: 2 });
  });

  test("because its agent ended with its engines starts again at once and counts no failure", () => {
    const { scenario, id } = serving();
    scenario.exits.set(`${id}/1`, { asked: true, category: "stopped" });
    const actions = scenario.tick();
    expect(actions.map((action) => action.kind)).not.toContain("record_failure");
    expect(scenario.replica(id)).toMatchObject({ phase: "starting", generation: 2, failures: [] });
  });

  test("after a long healthy time counts from one again", () => {
    const { scenario, id } = serving();
    for (const generation of [1, 2]) scenario.exits.set(`${id}/${generation}`, {});
    scenario.tickUntil(() => scenario.replica(id).generation === 3 && scenario.replica(id).phase === "serving");
    expect(scenario.replica(id).failures).toHaveLength(2);
    scenario.ticks(1, scenario.store.settings.failuresForgottenMs);
    scenario.exits.set(`${id}/3`, {});
    scenario.tick();
    expect(scenario.replica(id)).toMatchObject({ generation: 4, phase: "starting" });
    expect(scenario.replica(id).failures).toHaveLength(1);
  });

  test("on one node delays no planned move to another", () => {
    const { scenario, id } = serving();
    scenario.store.models.set("m", aModel({ spec: { replicas: 2 } }));
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 1 }));
    scenario.crashing.set("node_b", {});
    scenario.ticks(40);
    expect(scenario.inPhase("failed")).toHaveLength(1);
    scenario.store.nodes.set("node_c", aNode({ name: "c", gpus: 2 }));
    scenario.drain("node_a");
    scenario.tick();
    const replacement = scenario.inPhase("starting").find((replica) => replica.replaces === id);
    expect(scenario.homeOf(replacement?.id ?? "")).toBe("node_c");
  });
});

describe("a start that never becomes ready", () => {
  test("fails after the model's longest load time, and counts", () => {
    const scenario = new Scenario({
      nodes: [aNode({ name: "a", gpus: 1 })],
      models: [aModel({ spec: { load: { maxMs: 30_000, stallMs: 10_000 } } })],
    });
    scenario.tick();
    const id = scenario.inPhase("starting")[0]?.id ?? "";
    scenario.loading.add(id);
    scenario.ticks(29);
    expect(scenario.replica(id)).toMatchObject({ phase: "starting", generation: 1 });
    const actions = scenario.tick();
    expect(actions).toContainEqual(
      expect.objectContaining({
        kind: "set_phase",
        to: "failed",
        reason: expect.objectContaining({ code: "load_timed_out" }),
      }),
    );
    expect(actions).toContainEqual(expect.objectContaining({ kind: "stop_shard", replicaId: id, generation: 1 }));
  });
});
