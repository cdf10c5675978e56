import { describe, expect, test } from "vitest";
import { aModel, aNode } from "../testing/index.ts";
import { Scenario } from "../testing/scenario.ts";

/** Model m with `replicas` copies that serve at revision 1 on nodes of one GPU each. */
function serving(names: readonly string[], replicas: number, whenFull: "wait" | "replace" = "wait"): Scenario {
  const scenario = new Scenario({
    nodes: names.map((name) => aNode({ name, gpus: 1 })),
    models: [aModel({ spec: { replicas, update: { whenFull } } })],
  });
  scenario.tickUntil(() => scenario.inPhase("serving").length === replicas);
  return scenario;
}

const next = { engine: { args: ["--next"] } };
const modelOf = (scenario: Scenario) => scenario.store.models.get("m");
const revisions = (scenario: Scenario) => scenario.inPhase("serving", "moving").map((one) => one.modelRevision);

describe("a changed spec", () => {
  test("rolls through all replicas, each new one serving before its old one goes, never fewer than before", () => {
    const scenario = serving(["a", "b", "c"], 2);
    scenario.roll("m", next);
    for (let tick = 0; tick < 200 && modelOf(scenario)?.rollout !== null; tick += 1) {
      scenario.tick();
      expect(scenario.inPhase("serving", "moving").length).toBeGreaterThanOrEqual(2);
      expect(scenario.inPhase("starting", "serving", "moving").length).toBeLessThanOrEqual(3);
    }
    expect(modelOf(scenario)).toMatchObject({ revision: 2, rollout: null });
    expect(revisions(scenario)).toEqual([2, 2]);
  });

  test("restarts nothing where only routing, limits or the count changed", () => {
    const scenario = serving(["a", "b"], 1);
    scenario.roll("m", { drain: { graceMs: 1_000 }, update: { maxSurge: 2 } });
    expect(scenario.tick()).toEqual([]);
    expect(modelOf(scenario)).toMatchObject({ revision: 1, rollout: null });
  });

  test("without room it waits with the explanation, and the old replica serves on", () => {
    const scenario = serving(["a"], 1);
    scenario.roll("m", next);
    scenario.ticks(100);
    expect(revisions(scenario)).toEqual([1]);
    expect(scenario.inPhase("pending")[0]?.reason?.code).toBe("no_fit");
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 1 }));
    scenario.tickUntil(() => modelOf(scenario)?.rollout === null);
    expect(revisions(scenario)).toEqual([2]);
  });

  test("with whenFull replace one old replica ends first, one at a time, never the last one", () => {
    const scenario = serving(["a", "b"], 2, "replace");
    scenario.roll("m", next);
    for (let tick = 0; tick < 200 && modelOf(scenario)?.rollout !== null; tick += 1) {
      scenario.tick();
      expect(scenario.inPhase("serving", "moving").length).toBeGreaterThanOrEqual(1);
    }
    expect(revisions(scenario)).toEqual([2, 2]);
    const single = serving(["a"], 1, "replace");
    single.roll("m", next);
    single.ticks(100);
    expect(revisions(single)).toEqual([1]);
  });

  test("ends the last one too where the operator accepted the gap", () => {
    const scenario = serving(["a"], 1, "replace");
    scenario.roll("m", next, true);
    scenario.tickUntil(() => modelOf(scenario)?.rollout === null);
    expect(revisions(scenario)).toEqual([2]);
  });

  test("pauses as failed after 3 failed starts: old replicas serve on, and what fails later starts at the old revision", () => {
    const scenario = serving(["a", "b", "c"], 2);
    const free = ["a", "b", "c"].find((name) =>
      scenario.inPhase("serving").every(({ id }) => scenario.homeOf(id) !== `node_${name}`),
    );
    scenario.crashing.set(`node_${free}`, { cause: "no such flag" });
    scenario.roll("m", next);
    scenario.tickUntil(() => modelOf(scenario)?.rollout?.failedAtMs != null);
    expect(modelOf(scenario)?.rollout?.reason).toMatchObject({
      code: "rollout_starts_failed",
      params: { revision: 2, failures: 3, cause: "no such flag" },
    });
    scenario.ticks(3);
    expect(revisions(scenario)).toEqual([1, 1]);
    expect(scenario.inPhase("serving")).toHaveLength(2);
    scenario.crashing.clear();
    const [one] = scenario.inPhase("serving");
    scenario.exits.set(`${one?.id}/${one?.generation}`, {});
    scenario.tickUntil(() => scenario.inPhase("failed", "starting").length > 0);
    scenario.tickUntil(() => scenario.inPhase("serving").length === 2);
    expect(revisions(scenario)).toEqual([1, 1]);
  });

  test("that the engine refuses pauses at the first start", () => {
    const scenario = serving(["a", "b"], 1);
    scenario.crashing.set("node_a", { category: "bad_configuration", cause: "unknown argument" });
    scenario.crashing.set("node_b", { category: "bad_configuration", cause: "unknown argument" });
    const [one] = scenario.inPhase("serving");
    scenario.crashing.delete(scenario.homeOf(one?.id ?? "") ?? "");
    scenario.roll("m", next);
    scenario.ticks(5);
    expect(modelOf(scenario)?.rollout).toMatchObject({ reason: { params: { failures: 1 } } });
  });

  test("that routers never reach pauses after the stall time", () => {
    const scenario = serving(["a", "b"], 1);
    scenario.roll("m", next);
    scenario.tick();
    scenario.blindRouters.add("r1");
    scenario.tick();
    scenario.ticks(700);
    expect(modelOf(scenario)?.rollout?.reason?.code).toBe("rollout_not_reached");
  });

  test("undone half way, goes back: old replicas stay untouched, new ones leave once the old count serves", () => {
    const scenario = serving(["a", "b", "c"], 2);
    const before = scenario.inPhase("serving").map(({ id }) => id);
    scenario.roll("m", next);
    scenario.tickUntil(() => revisions(scenario).includes(2));
    scenario.undo("m");
    for (let tick = 0; tick < 200 && modelOf(scenario)?.rollout !== null; tick += 1) {
      scenario.tick();
      expect(scenario.inPhase("serving", "moving").length).toBeGreaterThanOrEqual(2);
    }
    expect(modelOf(scenario)).toMatchObject({ revision: 1, rollout: null });
    expect(scenario.inPhase("serving").map(({ id }) => id)).toEqual(before);
  });

  test("and a drain of the same node are one move, with the drain's deadline", () => {
    const scenario = serving(["a", "b"], 1);
    const [original] = scenario.inPhase("serving");
    const home = scenario.homeOf(original?.id ?? "") ?? "";
    scenario.roll("m", next);
    scenario.tick();
    const drain = scenario.drain(home);
    scenario.tickUntil(() => scenario.openOrEnded(drain.id).endedAtMs !== null);
    expect(scenario.openOrEnded(drain.id).result).toBe("complete");
    expect(revisions(scenario)).toEqual([2]);
    expect([...scenario.store.replicas.values()]).toHaveLength(2);
  });
});
