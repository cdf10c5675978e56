import fc from "fast-check";
import type { Drain } from "../cluster/drain.ts";
import type { Gpu } from "../cluster/gpu.ts";
import { judgeGpu } from "../cluster/gpu-verdict.ts";
import type { Model } from "../cluster/model.ts";
import type { Cordon, CordonOwner, Node } from "../cluster/node.ts";
import type { Replica } from "../cluster/replica.ts";
import type { ClusterSnapshot } from "../cluster/snapshot.ts";
import { aDrain } from "./a-drain.ts";
import { aGpu, aGpuHealth } from "./a-gpu.ts";
import { aModel } from "./a-model.ts";
import { aCordon, aNode } from "./a-node.ts";
import { anObservation, aReplica, aShard } from "./a-replica.ts";
import { aSnapshot } from "./a-snapshot.ts";
import { testNowMs } from "./instant.ts";

interface Card {
  readonly name: string;
  readonly totalMib: number;
}

const cards: readonly [Card, Card, Card] = [
  { name: "NVIDIA H100 80GB HBM3", totalMib: 81_559 },
  { name: "NVIDIA L40S", totalMib: 46_068 },
  { name: "NVIDIA GeForce RTX 4090", totalMib: 24_564 },
];

/** Mostly the first value, sometimes one of the others. */
function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

/** A GPU in any condition; index, UUID and node are set by `nodeArbitrary`. */
const gpuArbitrary: fc.Arbitrary<Gpu> = fc
  .record({
    card: mostly(...cards),
    usedMib: mostly<Gpu["usedMib"]>(4, 900, 22_310, "unsupported", "unreadable"),
    total: mostly<"known" | "unsupported" | "unreadable">("known", "unsupported", "unreadable"),
    ecc: mostly<Gpu["eccUncorrected"]>(0, "unsupported", 3),
    mig: mostly<Gpu["migMode"]>("disabled", "unsupported", "enabled"),
    xid: mostly(0, 94, 79, 31, 9_999),
    stranger: mostly<number | "unreadable" | null>(null, 600, 22_300, "unreadable"),
    missing: mostly(false, true),
  })
  .map(({ card, usedMib, total, ecc, mig, xid, stranger, missing }) => {
    const gpu = aGpu({
      name: card.name,
      totalMib: total === "known" ? card.totalMib : total,
      usedMib,
      eccUncorrected: ecc,
      migMode: mig,
      faults: xid === 0 ? [] : [{ kind: "xid", number: xid, evidence: `Xid ${xid}` }],
      processes: stranger === null ? [] : [{ pid: 4_242, usedMib: stranger, shard: null }],
      missingSinceMs: missing ? testNowMs - 30_000 : null,
      health: aGpuHealth(),
    });
    return { ...gpu, health: judgeGpu({ facts: gpu, previous: null, bootId: "boot-1", nowMs: testNowMs }) };
  });

const nodeShape = fc.record({
  gpus: fc.array(gpuArbitrary, { maxLength: 6 }),
  silentMs: mostly<number | null>(1_000, 16_000, 90_000, null),
  pool: mostly<string | null>(null, "batch"),
  zone: fc.constantFrom("z1", "z2"),
  kind: mostly<"vllm" | "llamacpp" | "simulated" | "bare">("vllm", "llamacpp", "simulated", "bare"),
  source: fc.constantFrom("present", "absent", "unknown"),
  cordon: mostly<CordonOwner | null>(null, "operator", "health", "flapping", "drain"),
  gpuCordon: mostly(false, true),
  drain: mostly(false, true),
});

/** A model that asks for anything a spec can ask for. */
export const modelArbitrary: fc.Arbitrary<Model> = fc
  .record({
    id: fc.constantFrom("m", "n", "o"),
    tp: mostly(1, 2, 3, 4),
    memoryPerGpuMib: fc.constantFrom(4_096, 20_480, 40_960, 75_000),
    shareGpu: fc.boolean(),
    pool: mostly<string | null>(null, "batch"),
    zone: mostly<string | null>(null, "z1"),
    nodes: mostly<readonly string[]>([], ["n0", "n1"]),
    engine: mostly<"vllm" | "llamacpp" | "sim">("vllm", "llamacpp", "sim"),
    path: mostly(false, true),
  })
  .map(({ id, tp, memoryPerGpuMib, shareGpu, pool, zone, nodes, engine, path }) =>
    aModel({
      id,
      spec: {
        pool,
        engine: { name: engine },
        source: path ? { kind: "path", path: "/models/m" } : { kind: "hub", repo: "example/m-7b" },
        resources: { tp, memoryPerGpuMib, shareGpu },
        place: { nodes, labels: zone === null ? {} : { zone } },
      },
    }),
  );

/** A cluster in any state that the product can get into: GPUs are never double-booked in it. */
export const clusterArbitrary: fc.Arbitrary<ClusterSnapshot> = fc
  .record({
    shapes: fc.array(nodeShape, { maxLength: 6 }),
    tenants: fc.array(
      fc.record({
        model: modelArbitrary,
        gpu: fc.nat({ max: 40 }),
        orphan: mostly(false, true),
        released: mostly(false, true),
        failed: mostly(false, true),
      }),
      { maxLength: 6 },
    ),
  })
  .map(({ shapes, tenants }) => {
    const drains: Drain[] = [];
    const nodes = shapes.map((shape, position): Node => {
      const name = `n${position}`;
      const nodeId = `node_${name}`;
      const cordons: Cordon[] = [];
      if (shape.cordon !== null) cordons.push(aCordon({ id: `c1_${name}`, nodeId, owner: shape.cordon }));
      const gpus = shape.gpus.map((gpu, index) => ({ ...gpu, index, uuid: `GPU-${nodeId}-${index}` }));
      const first = gpus[0];
      if (shape.gpuCordon && first !== undefined) {
        cordons.push(aCordon({ id: `c2_${name}`, nodeId, gpuUuid: first.uuid, owner: "health", by: "system" }));
      }
      if (shape.drain) drains.push(aDrain({ nodeId }));
      const labels: Record<string, string> = { zone: shape.zone };
      if (shape.pool !== null) labels["pool"] = shape.pool;
      const sources: Record<string, "present" | "absent"> = {};
      if (shape.source !== "unknown") {
        sources["/models/m"] = shape.source;
        sources["example/m-7b"] = shape.source;
      }
      return aNode({
        name,
        gpus,
        labels,
        sources,
        cordons,
        simulated: shape.kind === "simulated",
        engines:
          shape.kind === "bare"
            ? []
            : [
                {
                  name: shape.kind === "simulated" ? "sim" : shape.kind,
                  version: shape.kind === "vllm" ? "0.19.1" : null,
                },
              ],
        lastSeenAtMs: shape.silentMs === null ? null : testNowMs - shape.silentMs,
      });
    });

    const everyGpu = nodes.flatMap((node) => node.gpus.map((gpu) => ({ node, gpu })));
    const replicas: Replica[] = [];
    const taken = new Set<string>();
    const orphans = new Map<string, Node["observations"][number][]>();
    tenants.forEach(({ model, gpu, orphan, released, failed }, position) => {
      const at = everyGpu[everyGpu.length === 0 ? 0 : gpu % everyGpu.length];
      if (at === undefined || taken.has(at.gpu.uuid)) return;
      taken.add(at.gpu.uuid);
      const id = `${model.id}-aaaa${"abcdef"[position] ?? "z"}`;
      const shard = aShard({
        replicaId: id,
        nodeId: at.node.id,
        gpuUuids: [at.gpu.uuid],
        memoryMibPerGpu: model.spec.resources.memoryPerGpuMib,
        shareGpu: model.spec.resources.shareGpu,
        releasedAtMs: released ? testNowMs - 5_000 : null,
      });
      if (orphan) {
        orphans.set(at.node.id, [...(orphans.get(at.node.id) ?? []), anObservation(shard)]);
        return;
      }
      replicas.push(
        aReplica({
          id,
          modelId: model.id,
          generation: 1,
          phase: "serving",
          shards: [shard],
          failures: failed ? [{ atMs: testNowMs - 60_000, nodeId: at.node.id }] : [],
        }),
      );
    });
    return aSnapshot({
      nodes: nodes.map((node) => ({ ...node, observations: orphans.get(node.id) ?? [] })),
      replicas,
      drains,
    });
  });
