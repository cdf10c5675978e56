import { describe, expect, test } from "vitest";
import { isFlapping, massSilence, nodeLiveness, returnsAfterWord } from "../cluster/liveness.ts";
import { defaultControlSettings as settings } from "../cluster/snapshot.ts";
import { aModel, aNode, testNowMs } from "../testing/index.ts";
import { Scenario } from "../testing/scenario.ts";

const names = ["a", "b", "c", "d"];

function serving(): Scenario {
  const scenario = new Scenario({
    nodes: names.map((name) => aNode({ name, gpus: 1 })),
    models: [aModel({ spec: { replicas: 3 } })],
  });
  scenario.tickUntil(() => scenario.inPhase("serving").length === 3);
  return scenario;
}

describe("when most nodes fall silent together", () => {
  test("it is taken for our own fault: nothing is replaced, however long it lasts, and all is well when they return", () => {
    const scenario = serving();
    const before = scenario.phases();
    for (const name of ["a", "b", "c"]) scenario.silentNodes.add(`node_${name}`);
    scenario.ticks(600);
    expect(scenario.phases()).toEqual(before);
    expect(massSilence(scenario.store.snapshot(), settings)).toMatchObject({ nodes: 4 });
    scenario.silentNodes.clear();
    scenario.ticks(10);
    expect(massSilence(scenario.store.snapshot(), settings)).toBeNull();
    expect(scenario.phases()).toEqual(before);
  });

  test("those that stay away are given up on once enough have returned", () => {
    const scenario = serving();
    for (const name of ["a", "b", "c"]) scenario.silentNodes.add(`node_${name}`);
    scenario.ticks(120);
    scenario.silentNodes.delete("node_a");
    scenario.silentNodes.delete("node_b");
    scenario.blindRouters.add("r1");
    scenario.ticks(5);
    const lost = scenario.inPhase("lost");
    expect(lost.map(({ id }) => scenario.homeOf(id))).toEqual(["node_c"]);
  });

  test("an operator who calls a node lost has it replaced at once, until it is heard again", () => {
    const scenario = serving();
    for (const name of ["a", "b", "c"]) scenario.silentNodes.add(`node_${name}`);
    scenario.ticks(120);
    const held = scenario.inPhase("serving").find(({ id }) => scenario.homeOf(id) === "node_a");
    const node = scenario.node("node_a");
    scenario.store.nodes.set("node_a", { ...node, lostConfirmedAtMs: scenario.store.nowMs });
    scenario.tick();
    expect(scenario.replica(held?.id ?? "").phase).toBe("moving");
    expect([...scenario.store.replicas.values()].filter(({ replaces }) => replaces === held?.id)).toHaveLength(1);
    scenario.silentNodes.clear();
    scenario.tick();
    expect(nodeLiveness(scenario.node("node_a"), { ...scenario.store, settings })).toBe("live");
  });

  test("two of three nodes are too few for that, and so is one after the other", () => {
    const at = { nowMs: testNowMs, controlSinceMs: testNowMs - 3_600_000 };
    const silent = (name: string, agoMs: number) => aNode({ name, lastSeenAtMs: testNowMs - agoMs });
    const two = [silent("a", 90_000), silent("b", 90_000), silent("c", 1_000)];
    expect(massSilence({ nodes: two, ...at }, settings)).toBeNull();
    const slowly = ["a", "b", "c", "d"].map((name, index) => silent(name, 100_000 + index * 61_000));
    expect(massSilence({ nodes: slowly, ...at }, settings)).toBeNull();
    const together = ["a", "b", "c"].map((name, index) => silent(name, 100_000 + index * 20_000));
    expect(massSilence({ nodes: together, ...at }, settings)?.nodeIds.size).toBe(3);
    const dead = ["x", "y", "z"].map((name) => silent(name, 86_400_000));
    expect(massSilence({ nodes: [...dead, silent("a", 1_000), silent("b", 1_000)], ...at }, settings)?.nodes).toBe(5);
  });
});

describe("a node that goes silent and comes back again and again", () => {
  test("moves and restarts nothing, gets nothing new until it has been heard for a minute, then does", () => {
    const scenario = new Scenario({
      nodes: [aNode({ name: "a", gpus: 2 })],
      models: [aModel()],
    });
    scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
    const before = scenario.phases();
    for (let round = 0; round < 6; round += 1) {
      scenario.silentNodes.add("node_a");
      scenario.ticks(16);
      scenario.silentNodes.clear();
      scenario.ticks(5);
    }
    expect(scenario.phases()).toEqual(before);
    expect(scenario.node("node_a").cordons).toMatchObject([{ owner: "flapping", by: "system" }]);
    scenario.scale("m", 2);
    scenario.ticks(20);
    expect(scenario.inPhase("pending")[0]?.reason).toMatchObject({
      params: { nearestReason: { code: "node_cordoned", params: { owner: "flapping" } } },
    });
    scenario.ticks(50);
    expect(scenario.node("node_a").cordons).toEqual([]);
    expect(scenario.inPhase("serving")).toHaveLength(2);
  });

  test("is not blamed for a silence in which nobody listened", () => {
    const clock = { nowMs: testNowMs, controlSinceMs: testNowMs - 5_000, settings };
    const node = aNode({ lastSeenAtMs: testNowMs - 600_000 });
    expect(returnsAfterWord(node, clock)).toEqual([]);
    expect(returnsAfterWord(node, { ...clock, controlSinceMs: 0 })).toEqual([testNowMs]);
  });

  test("counts what happened within the window only", () => {
    const at = { nowMs: testNowMs, settings };
    const ago = (...minutes: readonly number[]) => ({ returnsAtMs: minutes.map((one) => testNowMs - one * 60_000) });
    expect(isFlapping(ago(8, 4, 0.5), at)).toBe(true);
    expect(isFlapping(ago(8, 4, 1.5), at)).toBe(false);
    expect(isFlapping(ago(15, 4, 0.5), at)).toBe(false);
  });
});

describe("a node on which starts of several models fail", () => {
  test("is a black hole: it gets a cordon of health, and nothing more is tried there until that ends", () => {
    const scenario = new Scenario({
      nodes: [aNode({ name: "a", gpus: 4 }), aNode({ name: "b", gpus: 4 })],
      models: [aModel({ id: "m" }), aModel({ id: "n" })],
    });
    scenario.silentNodes.add("node_b");
    scenario.store.nodes.set("node_b", { ...scenario.node("node_b"), lastSeenAtMs: null });
    scenario.crashing.set("node_a", {});
    scenario.tickUntil(() => scenario.node("node_a").cordons.length > 0);
    expect(scenario.node("node_a").cordons).toMatchObject([
      { owner: "health", reason: expect.stringContaining("m, n") },
    ]);
    scenario.silentNodes.clear();
    scenario.tickUntil(() => scenario.inPhase("serving").length === 2);
    expect(scenario.inPhase("serving").map(({ id }) => scenario.homeOf(id))).toEqual(["node_b", "node_b"]);
    scenario.crashing.clear();
    scenario.ticks(620);
    expect(scenario.node("node_a").cordons).toEqual([]);
  });

  test("one model alone that fails makes none", () => {
    const scenario = new Scenario({ nodes: [aNode({ name: "a", gpus: 4 })], models: [aModel()] });
    scenario.crashing.set("node_a", {});
    scenario.ticks(60);
    expect(scenario.node("node_a").cordons).toEqual([]);
  });
});

describe("an engine whose address changes within its generation", () => {
  test("is offered anew: another version of the table, and it has to prove itself there", () => {
    const scenario = serving();
    const [replica] = scenario.inPhase("serving");
    const id = replica?.id ?? "";
    const before = scenario.store.version;
    scenario.urls.set(id, "http://moved");
    const actions = scenario.tick();
    expect(actions).toMatchObject([{ kind: "offer_endpoint", replicaId: id, url: "http://moved" }]);
    expect(scenario.replica(id)).toMatchObject({ phase: "serving", url: "http://moved", provenSinceMs: null });
    expect(scenario.store.version).toBeGreaterThan(before);
    scenario.tick();
    expect(scenario.replica(id).provenSinceMs).not.toBeNull();
  });
});
