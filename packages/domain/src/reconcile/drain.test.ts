import { describe, expect, test } from "vitest";
import { aModel, aNode } from "../testing/index.ts";
import { Scenario } from "../testing/scenario.ts";

const minute = 60_000;

/** Model m with `replicas` copies that serve, one per node from the first on; the nodes have one GPU each. */
function serving(names: readonly string[], replicas: number, spare: readonly string[] = []): Scenario {
  const scenario = new Scenario({
    nodes: names.map((name) => aNode({ name, gpus: 1 })),
    models: [aModel({ spec: { replicas } })],
    routers: ["r1", "r2"],
  });
  scenario.tickUntil(() => scenario.inPhase("serving").length === replicas);
  for (const name of spare) scenario.store.nodes.set(`node_${name}`, aNode({ name, gpus: 1 }));
  return scenario;
}

describe("draining the node of a model with one replica", () => {
  test("makes the new replica before it takes the old one, in this order", () => {
    const scenario = serving(["a"], 1, ["b"]);
    const [original] = scenario.inPhase("serving");
    const id = original?.id ?? "";
    scenario.drain("node_a");
    const seen: string[] = [];
    for (let count = 0; count < 60 && scenario.openOrEnded("drain_node_a").endedAtMs === null; count += 1) {
      for (const action of scenario.tick()) {
        if (action.kind === "place_replica") seen.push("placed");
        if (action.kind === "offer_endpoint") seen.push("offered");
        if (action.kind === "set_phase" && action.to !== "stopped") seen.push(action.to);
        if (action.kind === "stop_shard") seen.push("stop ordered");
        if (action.kind === "release_shard") seen.push("released");
        if (action.kind === "end_drain") seen.push(`drain ${action.result}`);
      }
      expect(scenario.inPhase("serving", "moving").length).toBeGreaterThanOrEqual(1);
      expect(scenario.inPhase("starting", "serving", "moving", "draining", "stopping").length).toBeLessThanOrEqual(2);
    }
    expect(seen).toEqual([
      "moving",
      "placed",
      "offered",
      "serving",
      "draining",
      "stopping",
      "stop ordered",
      "released",
      "drain complete",
    ]);
    expect(scenario.replica(id).phase).toBe("stopped");
    const [replacement] = scenario.inPhase("serving");
    expect(replacement?.replaces).toBe(id);
    expect(scenario.homeOf(replacement?.id ?? "")).toBe("node_b");
  });

  test("keeps the original in the table while the replacement loads, however long that takes", () => {
    const scenario = serving(["a"], 1, ["b"]);
    scenario.drain("node_a");
    scenario.tick();
    const [replacement] = scenario.inPhase("starting");
    scenario.loading.add(replacement?.id ?? "");
    scenario.ticks(100);
    expect(scenario.inPhase("moving")).toHaveLength(1);
    expect(scenario.store.moves.get(`drain_node_a ${replacement?.replaces}`)?.step).toBe("loading");
  });

  test("waits until every live router has reached the replacement", () => {
    const scenario = serving(["a"], 1, ["b"]);
    scenario.blindRouters.add("r2");
    scenario.drain("node_a");
    scenario.ticks(40);
    expect(scenario.inPhase("moving")).toHaveLength(1);
    const [move] = scenario.store.moves.values();
    expect(move?.reason).toEqual({ code: "awaiting_routers", params: { routers: "r2" } });
    scenario.blindRouters.clear();
    scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").result === "complete");
  });

  test("lets the replacement serve for the proving time without a break first", () => {
    const scenario = serving(["a"], 1, ["b"]);
    scenario.drain("node_a");
    scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
    const [replacement] = scenario.inPhase("serving");
    const provenMs = replacement?.provenSinceMs ?? 0;
    scenario.tickUntil(() => scenario.inPhase("draining").length === 1);
    expect(scenario.store.nowMs - provenMs).toBeGreaterThanOrEqual(scenario.store.settings.provenMs);
  });

  test("is told in one record: planning again before a commit gives the same plan", () => {
    const scenario = serving(["a"], 1, ["b"]);
    scenario.drain("node_a");
    expect(scenario.plan()).toEqual(scenario.plan());
    scenario.pass();
    // Nothing was reported since: there is nothing more to decide.
    expect(scenario.plan()).toEqual([]);
  });
});

describe("the only node that can host a model", () => {
  test("says what blocks it, serves until the grace ends, then finishes what is in flight and is drained", () => {
    const scenario = new Scenario({
      nodes: [aNode({ name: "a", gpus: 2 }), aNode({ name: "b", gpus: 1 })],
      models: [aModel({ spec: { resources: { tp: 2 } } })],
    });
    scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
    const [original] = scenario.inPhase("serving");
    const id = original?.id ?? "";
    const deadlineAtMs = scenario.store.nowMs + 30_000;
    scenario.drain("node_a", { deadlineAtMs });
    scenario.inflight.set(`r1 ${id}`, 3);
    scenario.engineRunning.set(id, 3);

    scenario.tick();
    const [blocked] = scenario.store.moves.values();
    expect(blocked?.reason).toMatchObject({
      code: "waits_for_capacity",
      params: { deadlineMs: deadlineAtMs, nearestReason: { code: "too_few_gpus", params: { found: 1, need: 2 } } },
    });
    while (scenario.store.nowMs < deadlineAtMs - 1_000) {
      scenario.tick();
      expect(scenario.replica(id).phase).toBe("moving");
    }
    scenario.tick();
    expect(scenario.replica(id).phase).toBe("draining");
    // Running streams have no second clock.
    scenario.ticks(180);
    expect(scenario.replica(id).phase).toBe("draining");
    scenario.inflight.clear();
    scenario.engineRunning.clear();
    scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").endedAtMs !== null);
    const drain = scenario.openOrEnded("drain_node_a");
    expect(drain.result).toBe("completeWithLosses");
    expect(drain.losses).toMatchObject([{ replicaId: id, modelId: "m", reason: { code: "loss_no_replacement" } }]);
    const [waiting] = scenario.inPhase("pending");
    expect(waiting?.reason?.code).toBe("no_fit");

    scenario.uncordon("node_a");
    scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
    expect(scenario.homeOf(waiting?.id ?? "")).toBe("node_a");
  });

  test("is drained at once with a grace of 0, and at once when forced", () => {
    for (const overrides of [{ deadlineAtMs: 0 }, { forcedAtMs: 1, forcedBy: "op2" }]) {
      const scenario = serving(["a"], 1);
      scenario.drain("node_a", overrides);
      scenario.tick();
      expect(scenario.inPhase("draining")).toHaveLength(1);
      scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").result === "completeWithLosses");
    }
  });
});

describe("a replica that serves nothing holds no drain", () => {
  test("one that is still starting is stopped at once, placed elsewhere, and never becomes routable there", () => {
    const scenario = new Scenario({ nodes: [aNode({ name: "a", gpus: 1 })], models: [aModel()] });
    scenario.tick();
    const [starting] = scenario.inPhase("starting");
    const id = starting?.id ?? "";
    scenario.loading.add(id);
    scenario.ticks(10);
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 1 }));
    scenario.drain("node_a", { deadlineAtMs: scenario.store.nowMs + 10 * minute });
    // It turns ready in the same tick.
    scenario.loading.clear();
    const actions = scenario.tick();
    expect(actions.map((action) => action.kind)).not.toContain("offer_endpoint");
    expect(actions).toContainEqual(expect.objectContaining({ kind: "stop_shard", replicaId: id, generation: 1 }));
    expect(scenario.homeOf(id)).toBe("node_b");
    expect(scenario.openOrEnded("drain_node_a").endedAtMs).toBeNull();
    scenario.ticks(3);
    expect(scenario.openOrEnded("drain_node_a").result).toBe("complete");
    scenario.tickUntil(() => scenario.replica(id).phase === "serving");
  });

  test("the node is not drained while the loader's process lives", () => {
    const scenario = new Scenario({ nodes: [aNode({ name: "a", gpus: 1 })], models: [aModel()] });
    scenario.tick();
    const id = scenario.inPhase("starting")[0]?.id ?? "";
    scenario.undying.add(id);
    scenario.drain("node_a");
    scenario.ticks(60);
    expect(scenario.openOrEnded("drain_node_a").endedAtMs).toBeNull();
    scenario.undying.clear();
    scenario.ticks(3);
    expect(scenario.openOrEnded("drain_node_a").result).toBe("complete");
  });

  test("one in crash back-off does not keep the node, and starts elsewhere without that back-off", () => {
    const scenario = new Scenario({
      nodes: [aNode({ name: "a", gpus: 1 }), aNode({ name: "b", gpus: 1 })],
      models: [aModel({ spec: { replicas: 2 } })],
    });
    scenario.crashing.set("node_a", {});
    scenario.ticks(6);
    expect(scenario.inPhase("serving")).toHaveLength(1);
    const [failed] = scenario.inPhase("failed");
    expect(failed?.failures.length).toBeGreaterThan(0);
    scenario.store.nodes.set("node_c", aNode({ name: "c", gpus: 1 }));
    scenario.drain("node_a");
    scenario.ticks(2);
    expect(scenario.openOrEnded("drain_node_a").result).toBe("complete");
    expect(scenario.homeOf(failed?.id ?? "")).toBe("node_c");
  });
});

describe("a replacement that keeps crashing", () => {
  test("leaves the original serving, is tried on another node next, and the original goes once that serves", () => {
    const scenario = serving(["a"], 1, ["b"]);
    const id = scenario.inPhase("serving")[0]?.id ?? "";
    scenario.crashing.set("node_b", { cause: "out of luck" });
    scenario.drain("node_a", { deadlineAtMs: scenario.store.nowMs + minute });
    scenario.tick();
    const replacement = scenario.inPhase("starting")[0]?.id ?? "";
    expect(scenario.homeOf(replacement)).toBe("node_b");
    scenario.store.nodes.set("node_c", aNode({ name: "c", gpus: 1 }));
    const actions = scenario.tick();
    expect(actions).toContainEqual(
      expect.objectContaining({ kind: "record_failure", replicaId: replacement, nodeId: "node_b" }),
    );
    expect(scenario.replica(id).phase).toBe("moving");
    expect(scenario.homeOf(replacement)).toBe("node_c");
    scenario.tickUntil(() => scenario.replica(id).phase === "stopped");
    expect(scenario.replica(replacement).phase).toBe("serving");
  });

  test("backs off where there is no other node, says so, and holds nothing at the end", () => {
    const scenario = serving(["a"], 1, ["b"]);
    const id = scenario.inPhase("serving")[0]?.id ?? "";
    scenario.crashing.set("node_b", { cause: "out of luck" });
    scenario.drain("node_a", { deadlineAtMs: scenario.store.nowMs + minute });
    let starts = 0;
    for (let count = 0; count < 58; count += 1) {
      for (const action of scenario.tick()) if (action.kind === "place_replica") starts += 1;
      expect(scenario.replica(id).phase).toBe("moving");
    }
    expect(starts).toBeGreaterThan(2);
    expect(starts).toBeLessThanOrEqual(8);
    const move = scenario.store.moves.get(`drain_node_a ${id}`);
    expect(move?.reason).toMatchObject({
      code: "replacement_failing",
      params: { node: "b", cause: "out of luck" },
    });
    scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").result === "completeWithLosses");
    scenario.ticks(3);
    const held = [...scenario.store.replicas.values()].flatMap((replica) =>
      replica.shards.filter((shard) => shard.releasedAtMs === null),
    );
    expect(held).toEqual([]);
  });

  test("takes the original back into service while its stop is not sent and nothing else serves", () => {
    const scenario = serving(["a"], 1, ["b"]);
    const id = scenario.inPhase("serving")[0]?.id ?? "";
    scenario.inflight.set(`r1 ${id}`, 1);
    scenario.drain("node_a");
    scenario.tickUntil(() => scenario.replica(id).phase === "draining");
    const replacement = scenario.inPhase("serving")[0]?.id ?? "";
    scenario.exits.set(`${replacement}/1`, {});
    scenario.tick();
    expect(scenario.replica(id).phase).toBe("moving");
    scenario.inflight.clear();
    scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").result === "complete");
    expect(scenario.replica(replacement).phase).toBe("serving");
  });
});

describe("two nodes drained together", () => {
  test("never hop onto each other, surge first, and keep the number that serves", () => {
    const scenario = serving(["a", "b", "c"], 3, ["d", "e"]);
    scenario.drain("node_a");
    scenario.drain("node_b");
    while ([...scenario.store.drains.values()].some((drain) => drain.endedAtMs === null)) {
      for (const action of scenario.tick()) {
        if (action.kind !== "place_replica") continue;
        expect(["node_d", "node_e"]).toContain(action.shards[0]?.nodeId);
      }
      expect(scenario.inPhase("serving", "moving").length).toBeGreaterThanOrEqual(3);
      expect(scenario.inPhase("starting", "serving", "moving").length).toBeLessThanOrEqual(4);
    }
    expect([...scenario.store.drains.values()].map((drain) => drain.result)).toEqual(["complete", "complete"]);
    expect(scenario.store.replicas.size).toBe(5);
  });

  test("with room for one only, the earlier deadline moves and the other waits for capacity until its grace", () => {
    const scenario = serving(["a", "b", "c"], 3, ["d"]);
    const now = scenario.store.nowMs;
    scenario.drain("node_a", { deadlineAtMs: now + 5 * minute });
    scenario.drain("node_b", { deadlineAtMs: now + 3 * minute });
    scenario.ticks(60);
    expect(scenario.openOrEnded("drain_node_b").result).toBe("complete");
    const [waiting] = scenario.inPhase("moving");
    expect(scenario.homeOf(waiting?.id ?? "")).toBe("node_a");
    const move = scenario.store.moves.get(`drain_node_a ${waiting?.id}`);
    expect(move).toMatchObject({ step: "placing", reason: { code: "waits_for_capacity" } });
    while (scenario.store.nowMs < now + 5 * minute - 1_000) {
      scenario.tick();
      expect(scenario.inPhase("serving", "moving")).toHaveLength(3);
    }
    scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").result === "completeWithLosses");
  });

  test("draining all nodes does not thrash", () => {
    const scenario = serving(["a", "b"], 2);
    scenario.drain("node_a");
    scenario.drain("node_b");
    scenario.ticks(2);
    for (let count = 0; count < 30; count += 1) expect(scenario.tick()).toEqual([]);
  });

  test("a second move of a model waits for the slot and says for which", () => {
    const scenario = serving(["a", "b"], 2, ["c", "d"]);
    scenario.drain("node_a", { deadlineAtMs: scenario.store.nowMs + minute });
    scenario.drain("node_b", { deadlineAtMs: scenario.store.nowMs + 2 * minute });
    scenario.tick();
    const second = scenario.inPhase("moving").find((replica) => scenario.homeOf(replica.id) === "node_b");
    expect(scenario.store.moves.get(`drain_node_b ${second?.id}`)).toMatchObject({
      step: "queued",
      reason: { code: "queued_behind", params: { model: "m", inUse: 1, maxSurge: 1 } },
    });
  });
});

describe("the deadline of a drain", () => {
  test("is the same absolute time whatever restarts in between, and the move resumes where it was", () => {
    const scenario = serving(["a"], 1);
    const deadlineAtMs = scenario.store.nowMs + minute;
    scenario.drain("node_a", { deadlineAtMs });
    scenario.ticks(5);
    // An admin dies and another one takes the loop ten seconds later.
    scenario.store.nowMs += 10_000;
    scenario.store.controlSinceMs = scenario.store.nowMs;
    scenario.tick();
    expect(scenario.openOrEnded("drain_node_a").deadlineAtMs).toBe(deadlineAtMs);
    expect(scenario.inPhase("moving")).toHaveLength(1);
    expect(scenario.inPhase("pending")).toHaveLength(1);
    scenario.tickUntil(() => scenario.inPhase("draining").length === 1);
    expect(scenario.store.nowMs).toBeGreaterThanOrEqual(deadlineAtMs);
    expect(scenario.store.nowMs).toBeLessThan(deadlineAtMs + 2_000);
  });
});

describe("a change between the plan and its commit", () => {
  test("never lands a replica on a node that was drained meanwhile", () => {
    const scenario = new Scenario({ nodes: [aNode({ name: "a", gpus: 1 })], models: [aModel()] });
    scenario.store.nodes.set("node_a", { ...scenario.node("node_a"), lastSeenAtMs: scenario.store.nowMs });
    const actions = scenario.pass(() => scenario.drain("node_a"));
    expect(actions.map((action) => action.kind)).toContain("place_replica");
    expect(scenario.inPhase("starting")).toEqual([]);
    scenario.tick();
    expect(scenario.inPhase("pending")[0]?.reason?.code).toBe("no_fit");
  });
});

describe("uncordoning in the middle of a drain", () => {
  test("keeps an original that is still moving and drains its replacement", () => {
    const scenario = serving(["a"], 1, ["b"]);
    const id = scenario.inPhase("serving")[0]?.id ?? "";
    scenario.drain("node_a");
    scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
    scenario.uncordon("node_a");
    scenario.tickUntil(() => scenario.inPhase("moving", "draining", "stopping").length === 0);
    expect(scenario.replica(id).phase).toBe("serving");
    expect(scenario.inPhase("serving")).toHaveLength(1);
    expect(scenario.inPhase("pending", "failed", "starting")).toEqual([]);
  });

  test("lets the replacement stay once the original is draining", () => {
    const scenario = serving(["a"], 1, ["b"]);
    const id = scenario.inPhase("serving")[0]?.id ?? "";
    scenario.inflight.set(`r1 ${id}`, 1);
    scenario.drain("node_a");
    scenario.tickUntil(() => scenario.replica(id).phase === "draining");
    scenario.uncordon("node_a");
    scenario.inflight.clear();
    scenario.tickUntil(() => scenario.replica(id).phase === "stopped");
    expect(scenario.inPhase("serving").map((replica) => scenario.homeOf(replica.id))).toEqual(["node_b"]);
  });
});
