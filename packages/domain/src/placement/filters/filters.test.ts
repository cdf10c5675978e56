import { describe, expect, it } from "vitest";
import type { Model } from "../../cluster/model.ts";
import type { Node } from "../../cluster/node.ts";
import { type ClusterSnapshot, defaultControlSettings as settings } from "../../cluster/snapshot.ts";
import { describeReason } from "../../reasons/catalogue.ts";
import {
  aCordon,
  aDrain,
  aGpu,
  aGpuHealth,
  aModel,
  aNode,
  anObservation,
  aServingReplica,
  aShard,
  aSnapshot,
  type NodeOverrides,
  type SpecOverrides,
  testNowMs,
} from "../../testing/index.ts";
import { place } from "../place.ts";

/** The first rule that one node fails for a model, in words; "accepted" if none. */
function verdict(node: Node, model: Model = aModel(), rest: Partial<ClusterSnapshot> = {}): string {
  const snapshot = aSnapshot({ nodes: [node], ...rest });
  const candidate = place({ model, replicaId: null, snapshot, settings }).candidates[0]!;
  const failed = candidate.results.find((found) => !found.pass);
  return failed?.pass === false ? `${failed.rule}: ${describeReason(failed.reason)}` : "accepted";
}

const on = (node: NodeOverrides, spec: SpecOverrides = {}) => verdict(aNode(node), aModel({ spec }));

describe("labels: where an operator wants a model", () => {
  it("pins by node name or id", () => {
    expect(on({}, { place: { nodes: ["a"] } })).toBe("accepted");
    expect(on({}, { place: { nodes: ["node_a"] } })).toBe("accepted");
    expect(on({}, { place: { nodes: ["b", "c"] } })).toBe(
      "labels: a is not among the nodes this model is pinned to (b, c)",
    );
  });

  it("needs every label", () => {
    const spec = { place: { labels: { zone: "z1" } } };
    expect(on({ labels: { zone: "z1" } }, spec)).toBe("accepted");
    expect(on({ labels: { zone: "z2" } }, spec)).toBe("labels: a has zone=z2, zone=z1 is needed");
    expect(on({}, spec)).toBe("labels: a has no label zone, zone=z1 is needed");
  });

  it("keeps a pool's nodes for its models and its models on its nodes", () => {
    expect(on({ labels: { pool: "batch" } }, { pool: "batch" })).toBe("accepted");
    expect(on({ labels: { pool: "batch" } })).toBe("labels: a is kept for pool batch, and this model names no pool");
    expect(on({}, { pool: "batch" })).toBe("labels: a is in no pool, pool batch is needed");
  });

  it("pins to GPUs by UUID, and fails the node only when too few are left", () => {
    expect(on({}, { place: { gpus: ["GPU-node_a-1"] } })).toBe("accepted");
    expect(on({}, { place: { gpus: ["GPU-node_b-1"] } })).toBe(
      "labels: a GPU 0 is not among the GPUs this model is pinned to",
    );
  });
});

describe("cordon: what operators, drains and health keep free", () => {
  it.each(["operator", "drain", "health", "flapping"] as const)("holds whoever owns it: %s", (owner) => {
    expect(on({ cordons: [aCordon({ owner })] })).toBe(`cordon: a is cordoned by op1 (${owner}): maintenance`);
  });

  it("names an open drain before the cordon that came with it", () => {
    const node = aNode({ cordons: [aCordon({ owner: "drain" })] });
    expect(verdict(node, aModel(), { drains: [aDrain()] })).toBe("cordon: a is draining, started by op1");
  });

  it("of one GPU leaves the others", () => {
    const cordons = [aCordon({ gpuUuid: "GPU-node_a-0", reason: "flaky riser" })];
    expect(on({ cordons })).toBe("accepted");
    expect(on({ cordons, gpus: 1 })).toBe("cordon: a GPU 0 is cordoned by op1: flaky riser");
    expect(on({ cordons }, { resources: { tp: 2 } })).toBe("cordon: a GPU 0 is cordoned by op1: flaky riser");
  });
});

describe("liveness: nothing new on a node that is not heard of", () => {
  it("tells silence with its length, and a lost node from a silent one", () => {
    expect(on({ lastSeenAtMs: testNowMs - 14_999 })).toBe("accepted");
    expect(on({ lastSeenAtMs: testNowMs - 16_000 })).toBe("liveness: a has been silent for 16 s");
    expect(on({ lastSeenAtMs: testNowMs - 300_000 })).toBe("liveness: a is lost: silent for 5 min");
    expect(on({ lastSeenAtMs: null })).toBe("liveness: a has never reported");
  });

  it("waits for a node's word after an admin took the loop, without giving the node up", () => {
    const node = aNode({ lastSeenAtMs: testNowMs - 300_000 });
    expect(verdict(node, aModel(), { controlSinceMs: testNowMs })).toBe("liveness: a has been silent for 5 min");
  });
});

describe("gpu_health: no new work on a card that is in doubt", () => {
  const sick = aGpu({
    health: aGpuHealth({
      status: "unhealthy",
      schedulable: false,
      reason: { code: "gpu_ecc", params: { gpu: "GPU 0", errors: 3 } },
    }),
  });

  it("leaves the healthy cards of the node", () => {
    expect(on({ gpus: [sick, aGpu({ index: 1, uuid: "GPU-1" })] })).toBe("accepted");
    expect(on({ gpus: [sick] })).toBe("gpu_health: GPU 0 has 3 uncorrectable ECC errors since the last reset");
  });

  it("comes before capacity: an offline or sick node is not told to be too small", () => {
    expect(on({ gpus: [sick] }, { resources: { memoryPerGpuMib: 200_000 } })).toMatch(/^gpu_health/);
    expect(on({ cordons: [aCordon()] }, { resources: { tp: 8 } })).toMatch(/^cordon/);
    expect(on({ lastSeenAtMs: testNowMs - 30_000 }, { resources: { tp: 8 } })).toMatch(/^liveness/);
  });

  it("does not take a missing GPU for a free one", () => {
    expect(on({ gpus: [aGpu({ missingSinceMs: testNowMs - 9_000 })] })).toBe(
      "gpu_health: a GPU 0 was in this node and is not reported any more",
    );
  });

  it("gives a UUID that two nodes report to the one that joined first", () => {
    const shared = aGpu({ uuid: "GPU-twice" });
    const first = aNode({ name: "a", gpus: [shared], registeredAtMs: testNowMs - 2_000 });
    const second = aNode({ name: "b", gpus: [shared], registeredAtMs: testNowMs - 1_000 });
    const snapshot = aSnapshot({ nodes: [second, first] });
    const record = place({ model: aModel(), replicaId: null, snapshot, settings });
    expect(record.candidates.map((candidate) => candidate.accepted)).toEqual([true, false]);
    const [failed] = record.candidates[1]!.gpus[0]!.results.filter((found) => !found.pass);
    expect(failed).toMatchObject({ rule: "gpu_health", reason: { code: "gpu_duplicate", params: { holder: "a" } } });

    const gone = { ...first, lastSeenAtMs: testNowMs - 90_000 };
    const moved = place({ model: aModel(), replicaId: null, snapshot: aSnapshot({ nodes: [gone, second] }), settings });
    expect(moved.candidates.map((candidate) => candidate.accepted)).toEqual([false, true]);
  });
});

describe("engine: what a node can run", () => {
  it("needs the engine, in the version asked for", () => {
    expect(on({}, { engine: { name: "sglang" } })).toBe("engine: a cannot run sglang; it has vllm 0.19.1");
    expect(on({}, { engine: { version: "0.19.1" } })).toBe("accepted");
    expect(on({}, { engine: { version: "0.20.0" } })).toBe("engine: a cannot run vllm 0.20.0; it has vllm 0.19.1");
    expect(on({ engines: [] })).toBe("engine: a cannot run vllm; it has no engine");
  });

  it("a simulated node runs every engine simulated, a real one none", () => {
    const simulated = { simulated: true, engines: [{ name: "sim", version: null }] } as const;
    expect(on(simulated, { engine: { name: "sglang" } })).toBe("accepted");
    expect(on(simulated, { engine: { name: "sim" } })).toBe("accepted");
    expect(on(simulated, { engine: { name: "external" } })).toBe("engine: a cannot run external; it has sim");
    expect(on({ engines: simulated.engines }, { engine: { name: "sim" } })).toBe(
      "engine: a cannot run sim; it has sim",
    );
  });
});

describe("source: where the weights come from", () => {
  it("rejects a local path that the node says it does not have; what is unknown or on a hub may come", () => {
    const source = { kind: "path", path: "/models/m" } as const;
    expect(on({ sources: { "/models/m": "absent" } }, { source })).toBe("source: a does not have /models/m");
    expect(on({}, { source })).toBe("accepted");
    expect(on({ sources: { "example/m-7b": "absent" } })).toBe("accepted");
  });
});

describe("gpu_count and same_type: one shard's group of cards", () => {
  it("says how many cards a node has and how many are needed", () => {
    expect(on({ gpus: 1 }, { resources: { tp: 2 } })).toBe("gpu_count: a has 1 GPU, needs 2");
    expect(on({ gpus: 0 })).toBe("gpu_count: a has 0 GPUs, needs 1");
  });

  it("never joins cards of two types", () => {
    const gpus = [aGpu(), aGpu({ index: 1, uuid: "GPU-1", name: "NVIDIA L40S", totalMib: 46_068 })];
    expect(on({ gpus }, { resources: { tp: 2 } })).toBe(
      "same_type: a has no 2 usable GPUs of one type (1 × NVIDIA H100 80GB HBM3, 1 × NVIDIA L40S)",
    );
  });
});

describe("memory: what each card has free, never a sum", () => {
  it("rejects a card by its own share although the sum would do", () => {
    const card = (index: number, usedMib: number) => aGpu({ index, uuid: `GPU-${index}`, totalMib: 24_564, usedMib });
    const spec = { resources: { tp: 2, memoryPerGpuMib: 14_336 } };
    expect(on({ gpus: [card(0, 0), card(1, 12_288)] }, spec)).toBe(
      "memory: a has 1 GPU of one type with 14.0 GiB free, needs 2",
    );
    expect(on({ gpus: [card(0, 0), card(1, 0)] }, spec)).toBe("accepted");
  });

  it("says what is short by how much, and who holds it", () => {
    const processes = [{ pid: 4_242, usedMib: 22_300, shard: null }];
    expect(on({ gpus: [aGpu({ usedMib: 22_310, processes })] }, { resources: { memoryPerGpuMib: 71_680 } })).toBe(
      "memory: a GPU 0 has 57.8 GiB free, needs 70.0 GiB: 12.2 GiB short, held by pid 4242",
    );
  });

  it("rejects unknown memory as unknown, never as 0", () => {
    expect(on({ gpus: [aGpu({ totalMib: "unsupported", usedMib: "unsupported" })] })).toBe(
      "memory: the free memory of a GPU 0 is not reported",
    );
  });

  it("keeps a GPU for its tenant unless every tenant's model shares", () => {
    const node = aNode({ gpus: 1 });
    const sharing = (id: string, shareGpu: boolean) => aModel({ id, spec: { resources: { shareGpu } } });
    const beside = (tenantShares: boolean, shares: boolean) =>
      verdict(node, sharing("m", shares), { replicas: [aServingReplica(sharing("t", tenantShares), node)] });
    expect(beside(true, true)).toBe("accepted");
    expect(beside(true, false)).toBe("memory: a GPU 0 is held by t-aaaaa/0");
    expect(beside(false, true)).toBe("memory: a GPU 0 is held by t-aaaaa/0");
  });

  it("frees a GPU when its process is confirmed dead, not when its replica stops or its stop was asked for", () => {
    const node = aNode({ gpus: 1 });
    const tenant = aServingReplica(aModel({ id: "t" }), node);
    const with_ = (shard: Parameters<typeof aShard>[0]) =>
      verdict(node, aModel(), {
        replicas: [{ ...tenant, phase: "stopped", shards: [{ ...tenant.shards[0]!, ...shard }] }],
      });
    expect(with_({ stopRequestedAtMs: testNowMs })).toBe("memory: a GPU 0 is held by t-aaaaa/0");
    expect(with_({ releasedAtMs: testNowMs })).toBe("accepted");
  });

  it("does not place beside a process that the database does not know", () => {
    const orphan = aShard({ replicaId: "x-zzzzz" });
    expect(on({ gpus: 1, observations: [anObservation(orphan)] })).toBe("memory: a GPU 0 is held by x-zzzzz/0");
    expect(on({ gpus: 1, observations: [anObservation(orphan, { phase: "exited" })] })).toBe("accepted");
  });
});
