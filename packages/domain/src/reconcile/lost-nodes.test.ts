import { describe, expect, test } from "vitest";
import { aModel, aNode } from "../testing/index.ts";
import { Scenario } from "../testing/scenario.ts";

const lostAfterMs = 60_000;

/** One replica that serves on a; b has room. */
function cluster(): { readonly scenario: Scenario; readonly id: string } {
  const scenario = new Scenario({
    nodes: [aNode({ name: "a", gpus: 1 })],
    models: [aModel()],
    routers: ["r1", "r2"],
  });
  scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
  scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 1 }));
  return { scenario, id: scenario.inPhase("serving")[0]?.id ?? "" };
}

/** Its routers lose sight of it too, as when the machine is without power. */
function powerOff(scenario: Scenario): void {
  scenario.silentNodes.add("node_a");
  scenario.blindRouters.add("r1").add("r2");
}

describe("a node that falls silent", () => {
  test("loses nothing while it is only suspect, however often", () => {
    const { scenario, id } = cluster();
    for (let blip = 0; blip < 6; blip += 1) {
      scenario.silentNodes.add("node_a");
      scenario.ticks(16);
      scenario.silentNodes.clear();
      scenario.ticks(3);
    }
    expect(scenario.replica(id).phase).toBe("serving");
    expect(scenario.store.replicas.size).toBe(1);
  });

  test("keeps a replica that routers still reach in the table as moving, and has it replaced at once", () => {
    const { scenario, id } = cluster();
    scenario.silentNodes.add("node_a");
    scenario.tickUntil(() => scenario.replica(id).phase !== "serving");
    expect(scenario.replica(id)).toMatchObject({ phase: "moving", reason: { code: "moving_for_node_lost" } });
    expect(scenario.inPhase("starting").map((replica) => scenario.homeOf(replica.id))).toEqual(["node_b"]);
  });

  test("loses a replica that routers do not reach: out of the table, replaced at once", () => {
    const { scenario, id } = cluster();
    powerOff(scenario);
    scenario.ticks(lostAfterMs / 1_000 + 1);
    expect(scenario.replica(id)).toMatchObject({ phase: "lost", offeredAtMs: null });
    expect(scenario.inPhase("starting")).toHaveLength(1);
    // Its GPUs stay held: nobody can say whether its process is gone.
    expect(scenario.replica(id).shards[0]?.releasedAtMs).toBeNull();
  });

  test("is given its full time anew after an admin took the loop", () => {
    const { scenario, id } = cluster();
    scenario.store.nowMs += 5 * lostAfterMs;
    scenario.store.controlSinceMs = scenario.store.nowMs;
    scenario.silentNodes.add("node_a");
    scenario.ticks(lostAfterMs / 1_000 - 1);
    expect(scenario.replica(id).phase).toBe("serving");
    scenario.ticks(2);
    expect(scenario.replica(id).phase).not.toBe("serving");
  });
});

describe("a silent node that comes back with its engine running", () => {
  test("keeps it when nothing has taken its place, and takes the replacement away again", () => {
    const { scenario, id } = cluster();
    powerOff(scenario);
    scenario.tickUntil(() => scenario.inPhase("starting").length === 1);
    scenario.loading.add(scenario.inPhase("starting")[0]?.id ?? "");
    scenario.ticks(5);
    scenario.silentNodes.clear();
    scenario.blindRouters.clear();
    scenario.tickUntil(() => scenario.replica(id).phase === "serving");
    scenario.ticks(5);
    expect(scenario.phases().filter((phase) => !phase.endsWith("stopped"))).toEqual([`${id} serving`]);
  });

  test("drains and stops it when its replacement serves: it is never counted twice", () => {
    const { scenario, id } = cluster();
    powerOff(scenario);
    scenario.tickUntil(() => scenario.replica(id).phase === "lost");
    scenario.blindRouters.clear();
    scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
    scenario.inflight.set(`r1 ${id}`, 1);
    scenario.silentNodes.clear();
    scenario.ticks(10);
    expect(scenario.replica(id).phase).toBe("draining");
    scenario.inflight.clear();
    scenario.tickUntil(() => scenario.replica(id).phase === "stopped");
    expect(scenario.inPhase("serving").map((replica) => scenario.homeOf(replica.id))).toEqual(["node_b"]);
  });
});

describe("draining a node that is unreachable", () => {
  test("does not wait for its agent, ends unconfirmed at the grace, and stops the old shard when it returns", () => {
    const { scenario, id } = cluster();
    powerOff(scenario);
    scenario.tickUntil(() => scenario.replica(id).phase === "lost");
    scenario.blindRouters.clear();
    const deadlineAtMs = scenario.store.nowMs + 120_000;
    scenario.drain("node_a", { deadlineAtMs });
    scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").endedAtMs !== null);
    const drain = scenario.openOrEnded("drain_node_a");
    expect(scenario.store.nowMs).toBeGreaterThanOrEqual(deadlineAtMs);
    expect(drain).toMatchObject({
      result: "unconfirmed",
      losses: [{ replicaId: id, reason: { code: "loss_node_lost", params: { node: "a" } } }],
    });
    scenario.silentNodes.clear();
    scenario.tickUntil(() => scenario.replica(id).phase === "stopped");
    expect(scenario.replica(id).shards[0]?.releasedAtMs).not.toBeNull();
    expect(scenario.inPhase("serving")).toHaveLength(1);
  });

  test("loses nothing when it falls silent in the middle: the move goes on, without a slot", () => {
    const { scenario, id } = cluster();
    scenario.store.nodes.delete("node_b");
    scenario.drain("node_a");
    scenario.ticks(2);
    scenario.silentNodes.add("node_a");
    scenario.ticks(lostAfterMs / 1_000 + 1);
    expect(scenario.replica(id)).toMatchObject({ phase: "moving", reason: { code: "moving_for_node_lost" } });
    scenario.store.nodes.set("node_b", aNode({ name: "b", gpus: 1 }));
    scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
    scenario.silentNodes.clear();
    scenario.tickUntil(() => scenario.openOrEnded("drain_node_a").endedAtMs !== null);
    expect(scenario.openOrEnded("drain_node_a").result).toBe("complete");
  });

  test("ends at once by force", () => {
    const { scenario } = cluster();
    powerOff(scenario);
    scenario.ticks(lostAfterMs / 1_000 + 1);
    scenario.drain("node_a", { forcedAtMs: scenario.store.nowMs, forcedBy: "op1" });
    scenario.tick();
    expect(scenario.openOrEnded("drain_node_a").result).toBe("unconfirmed");
  });
});

describe("a machine that rebooted during its drain", () => {
  test("has its replica replaced and ends drained", () => {
    const { scenario, id } = cluster();
    scenario.drain("node_a");
    scenario.tick();
    scenario.exits.set(`${id}/1`, { category: "killed", cause: "the machine has rebooted" });
    scenario.tick();
    expect(scenario.replica(id).phase).toBe("stopped");
    expect(scenario.openOrEnded("drain_node_a").result).toBe("complete");
    scenario.tickUntil(() => scenario.inPhase("serving").length === 1);
    expect(scenario.node("node_a").cordons).toHaveLength(1);
  });
});
