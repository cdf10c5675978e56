import { describe, expect, test } from "vitest";
import { aModel, aNode } from "../testing/index.ts";
import { Scenario } from "../testing/scenario.ts";

function serving(replicas: number): Scenario {
  const scenario = new Scenario({ nodes: [aNode({ name: "a", gpus: 4 })], models: [aModel({ spec: { replicas } })] });
  scenario.tickUntil(() => scenario.inPhase("serving").length === replicas);
  return scenario;
}

describe("scaling", () => {
  test("up adds replicas and touches none that runs", () => {
    const scenario = serving(1);
    const id = scenario.inPhase("serving")[0]?.id;
    scenario.scale("m", 3);
    scenario.tickUntil(() => scenario.inPhase("serving").length === 3);
    expect(scenario.inPhase("serving")[0]).toMatchObject({ id, generation: 1 });
  });

  test("down gives up what serves nothing first, then drains: nothing in flight is cut", () => {
    const scenario = serving(2);
    scenario.scale("m", 3);
    scenario.tick();
    const starting = scenario.inPhase("starting")[0]?.id ?? "";
    scenario.loading.add(starting);
    scenario.tick();
    const newest = scenario.inPhase("serving").at(-1)?.id ?? "";
    scenario.inflight.set(`r1 ${newest}`, 1);
    scenario.scale("m", 1);
    scenario.ticks(20);
    expect(scenario.replica(starting).phase).toBe("stopped");
    expect(scenario.replica(newest)).toMatchObject({ phase: "draining", reason: { code: "scaled_down" } });
    scenario.inflight.clear();
    scenario.tickUntil(() => scenario.replica(newest).phase === "stopped");
    expect(scenario.inPhase("serving")).toHaveLength(1);
  });

  test("to 0 and deleting both drain everything without replacement", () => {
    for (const end of ["scale", "delete"]) {
      const scenario = serving(2);
      if (end === "scale") scenario.scale("m", 0);
      else scenario.store.models.set("m", aModel({ spec: { replicas: 2 }, deletedAtMs: scenario.store.nowMs }));
      scenario.tick();
      expect(scenario.inPhase("draining")).toHaveLength(2);
      scenario.tickUntil(() => scenario.inPhase("stopped").length === 2);
      expect(scenario.store.replicas.size).toBe(2);
    }
  });

  test("down while a move runs drops the move's replacement and lets the original go", () => {
    const scenario = serving(1);
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 1 }));
    scenario.drain("node_a");
    scenario.tick();
    scenario.scale("m", 0);
    scenario.tickUntil(() => scenario.inPhase("stopped").length === 2);
    expect(scenario.openOrEnded("drain_node_a").result).toBe("complete");
  });
});

describe("a pending replica", () => {
  test("is explained once, and again only when its reasons change", () => {
    const scenario = new Scenario({
      nodes: [aNode({ name: "a", gpus: 1 })],
      models: [aModel({ spec: { resources: { tp: 2 } } })],
    });
    const kinds = (): readonly string[] => scenario.tick().map((action) => action.kind);
    expect(kinds()).toEqual(["create_replica", "explain_pending"]);
    for (let count = 0; count < 5; count += 1) expect(kinds()).toEqual([]);
    // Silence grows by the second: one explanation says suspect, one says lost.
    scenario.silentNodes.add("node_a");
    const explained = Array.from({ length: 80 }, kinds).filter((list) => list.includes("explain_pending"));
    expect(explained).toHaveLength(2);
  });

  test("is placed by itself as soon as something fits", () => {
    const scenario = new Scenario({ nodes: [], models: [aModel()] });
    scenario.tick();
    expect(scenario.inPhase("pending")[0]?.reason?.code).toBe("no_nodes");
    scenario.store.nodes.set("node_a", aNode({ name: "a", gpus: 1 }));
    scenario.ticks(2);
    expect(scenario.inPhase("starting")).toHaveLength(1);
  });
});

describe("an orphan", () => {
  test("is left alone: no order names it", () => {
    const scenario = serving(1);
    const [shard] = scenario.inPhase("serving")[0]?.shards ?? [];
    expect(shard).toBeDefined();
    scenario.store.replicas.clear();
    scenario.store.models.clear();
    expect(scenario.pass()).toEqual([]);
  });
});
