import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Gpu } from "../cluster/gpu.ts";
import type { Model } from "../cluster/model.ts";
import type { Node } from "../cluster/node.ts";
import { type ClusterSnapshot, defaultControlSettings as settings } from "../cluster/snapshot.ts";
import { describeReason } from "../reasons/catalogue.ts";
import type { Reason } from "../reasons/reason.ts";
import { clusterArbitrary, modelArbitrary } from "../testing/index.ts";
import { place } from "./place.ts";
import { recheckPlacement } from "./recheck.ts";
import { placementRules } from "./record.ts";
import type { AssumedShard } from "./tenants.ts";

const runs = { numRuns: 1_000 };

/** Does the reason, taken alone with its numbers and the cluster's state, still say no? */
function stillFails(why: Reason, snapshot: ClusterSnapshot, model: Model): boolean {
  const nodeOf = (name: string): Node => snapshot.nodes.find((node) => node.name === name)!;
  const gpuOf = (label: string): Gpu => {
    const [name, index] = label.split(" GPU ");
    return nodeOf(name!).gpus.find((gpu) => gpu.index === Number(index))!;
  };
  switch (why.code) {
    case "node_not_pinned":
      return !model.spec.place.nodes.includes(why.params.node);
    case "node_label_mismatch":
    case "node_pool_mismatch":
      return why.params.found !== why.params.need;
    case "node_draining":
      return snapshot.drains.some((drain) => drain.endedAtMs === null && drain.nodeId === nodeOf(why.params.node).id);
    case "node_cordoned":
      return nodeOf(why.params.node).cordons.some((row) => row.gpuUuid === null && row.sinceMs === why.params.sinceMs);
    case "gpu_cordoned":
      return snapshot.nodes.some((node) => node.cordons.some((row) => row.gpuUuid === gpuOf(why.params.gpu).uuid));
    case "node_never_seen":
      return nodeOf(why.params.node).lastSeenAtMs === null;
    case "node_suspect":
      return why.params.silentMs >= settings.suspectAfterMs && why.params.silentMs < settings.lostAfterMs;
    case "node_lost":
      return why.params.silentMs >= settings.lostAfterMs;
    case "engine_not_runnable":
      return !nodeOf(why.params.node).engines.some((found) =>
        nodeOf(why.params.node).simulated ? found.name === "sim" : found.name === why.params.engine,
      );
    case "source_absent":
      return nodeOf(why.params.node).sources[why.params.source] === "absent";
    case "too_few_gpus":
    case "too_few_free_gpus":
      return why.params.found < why.params.need;
    case "gpu_types_differ":
      return why.params.found.split(", ").every((group) => Number.parseInt(group, 10) < why.params.need);
    case "gpu_held":
      return why.params.heldBy !== "";
    case "gpu_memory_unknown":
      return ["unsupported", "unreadable"].includes(why.params.found);
    case "gpu_memory_short":
      return why.params.freeMib < why.params.needMib;
    case "gpu_missing":
      return gpuOf(why.params.gpu).missingSinceMs === why.params.sinceMs;
    case "gpu_ecc":
      return why.params.errors > 0;
    case "gpu_xid":
    case "gpu_mig_enabled":
    case "gpu_unreadable":
      return snapshot.nodes.some((node) =>
        node.gpus.some((gpu) => !gpu.health.schedulable && describeReason(gpu.health.reason!) === describeReason(why)),
      );
    default:
      throw new Error(`placement gave a reason that it has no business with: ${why.code}`);
  }
}

/** Whether a shard fits on a node, written a second time, as plainly as can be. */
function fitsPlainly(node: Node, model: Model, snapshot: ClusterSnapshot): boolean {
  const { spec } = model;
  const { tp, memoryPerGpuMib, shareGpu } = spec.resources;
  if (spec.place.nodes.length > 0 && !spec.place.nodes.includes(node.name)) return false;
  if (Object.entries(spec.place.labels).some(([key, value]) => node.labels[key] !== value)) return false;
  if ((node.labels["pool"] ?? null) !== spec.pool) return false;
  if (node.cordons.some((row) => row.gpuUuid === null)) return false;
  if (snapshot.drains.some((drain) => drain.nodeId === node.id && drain.endedAtMs === null)) return false;
  if (node.lastSeenAtMs === null || snapshot.nowMs - node.lastSeenAtMs >= settings.suspectAfterMs) return false;
  const engines = node.engines.map((found) => found.name);
  if (node.simulated ? !engines.includes("sim") : spec.engine.name === "sim" || !engines.includes(spec.engine.name)) {
    return false;
  }
  if (!node.simulated && spec.source.kind === "path" && node.sources[spec.source.path] === "absent") return false;
  const fits = new Map<string, number>();
  for (const gpu of node.gpus) {
    if (gpu.missingSinceMs !== null || !gpu.health.schedulable) continue;
    if (node.cordons.some((row) => row.gpuUuid === gpu.uuid)) continue;
    if (node.observations.some((seen) => seen.gpuUuids.includes(gpu.uuid))) continue;
    if (typeof gpu.totalMib !== "number" || typeof gpu.usedMib !== "number") continue;
    const shards = snapshot.replicas
      .flatMap((replica) => replica.shards)
      .filter((shard) => shard.releasedAtMs === null && shard.gpuUuids.includes(gpu.uuid));
    if (shards.length > 0 && !(shareGpu && shards.every((shard) => shard.shareGpu))) continue;
    const claims = shards.reduce((sum, shard) => sum + shard.memoryMibPerGpu, 0);
    const strangers = gpu.processes.reduce(
      (sum, held) => sum + (typeof held.usedMib === "number" ? held.usedMib : 0),
      0,
    );
    const own = Math.max(0, Math.min(claims, gpu.usedMib - strangers));
    const foreign = Math.max(strangers, gpu.usedMib - own);
    const free = gpu.totalMib - Math.max(settings.reserveMibPerGpu, foreign) - claims;
    if (free >= memoryPerGpuMib) fits.set(gpu.name, (fits.get(gpu.name) ?? 0) + 1);
  }
  return [...fits.values()].some((count) => count >= tp);
}

describe("place, over random clusters", () => {
  it("gives every node and every GPU exactly one verdict, and runs every rule on each", () => {
    fc.assert(
      fc.property(clusterArbitrary, modelArbitrary, (snapshot, model) => {
        const record = place({ model, replicaId: null, snapshot, settings });
        expect(record.candidates.map((node) => node.nodeId).sort()).toEqual(
          snapshot.nodes.map((node) => node.id).sort(),
        );
        for (const candidate of record.candidates) {
          expect(candidate.results.map((found) => found.rule)).toEqual(placementRules);
          const failed = candidate.results.filter((found) => !found.pass);
          expect(candidate.accepted).toBe(failed.length === 0);
          expect(candidate.firstFailed).toBe(failed[0]?.rule ?? null);
          expect(candidate.score === null).toBe(!candidate.accepted);
          const gpus = snapshot.nodes.find((node) => node.id === candidate.nodeId)!.gpus;
          expect(candidate.gpus.map((gpu) => gpu.uuid).sort()).toEqual(gpus.map((gpu) => gpu.uuid).sort());
          for (const gpu of candidate.gpus) {
            expect(gpu.results.map((found) => found.rule)).toEqual(["labels", "cordon", "gpu_health", "memory"]);
            expect(gpu.accepted).toBe(gpu.results.every((found) => found.pass));
          }
        }
      }),
      runs,
    );
  });

  it("rejects only with reasons that still say no when they are re-evaluated with the numbers they name", () => {
    fc.assert(
      fc.property(clusterArbitrary, modelArbitrary, (snapshot, model) => {
        const record = place({ model, replicaId: null, snapshot, settings });
        for (const candidate of record.candidates) {
          for (const found of [...candidate.results, ...candidate.gpus.flatMap((gpu) => gpu.results)]) {
            if (found.pass) continue;
            expect(stillFails(found.reason, snapshot, model), describeReason(found.reason)).toBe(true);
            expect(describeReason(found.reason)).not.toMatch(/undefined|NaN/);
          }
        }
      }),
      runs,
    );
  });

  it("accepts exactly the nodes where a shard fits", () => {
    fc.assert(
      fc.property(clusterArbitrary, modelArbitrary, (snapshot, model) => {
        const record = place({ model, replicaId: null, snapshot, settings });
        for (const candidate of record.candidates) {
          const node = snapshot.nodes.find((found) => found.id === candidate.nodeId)!;
          expect(candidate.accepted, candidate.nodeName).toBe(fitsPlainly(node, model, snapshot));
        }
      }),
      runs,
    );
  });

  it("places exactly when it accepts a node, on the accepted node of the highest score, and marks what it chose", () => {
    fc.assert(
      fc.property(clusterArbitrary, modelArbitrary, (snapshot, model) => {
        const record = place({ model, replicaId: null, snapshot, settings });
        const accepted = record.candidates.filter((candidate) => candidate.accepted);
        expect(record.counts).toEqual({ nodes: snapshot.nodes.length, accepted: accepted.length });
        if (record.outcome.kind === "no_fit") {
          expect(accepted).toEqual([]);
          return;
        }
        const [shard] = record.outcome.shards;
        const winner = accepted.find((candidate) => candidate.nodeId === shard!.nodeId)!;
        expect(winner.score).toBe(Math.max(...accepted.map((candidate) => candidate.score!)));
        expect(shard!.gpuUuids).toHaveLength(model.spec.resources.tp);
        const chosen = record.candidates.flatMap((node) => node.gpus.filter((gpu) => gpu.chosen));
        expect(chosen.map((gpu) => gpu.uuid)).toEqual(shard!.gpuUuids);
        expect(chosen.every((gpu) => gpu.accepted)).toBe(true);
        for (const part of accepted.flatMap((candidate) => candidate.scoreParts)) {
          expect(part.value).toBeGreaterThanOrEqual(0);
          expect(part.value).toBeLessThanOrEqual(1);
          expect(part.points).toBe(part.weight * part.value);
        }
      }),
      runs,
    );
  });

  it("proposes on every accepted node a placement that passes the commit's re-check", () => {
    fc.assert(
      fc.property(clusterArbitrary, modelArbitrary, (snapshot, model) => {
        const known = { ...snapshot, models: [model] };
        for (const candidate of place({ model, replicaId: null, snapshot, settings }).candidates) {
          const exclude = new Set(snapshot.nodes.map((node) => node.id).filter((id) => id !== candidate.nodeId));
          const { outcome } = place({ model, replicaId: null, snapshot, settings, exclude });
          expect(outcome.kind === "placed").toBe(candidate.accepted);
          if (outcome.kind !== "placed") continue;
          const planned = { modelId: model.id, replicaId: null, shards: outcome.shards };
          expect(recheckPlacement(planned, known, settings)).toEqual({ ok: true });
        }
      }),
      runs,
    );
  });

  it("never double-books a GPU when one plan places many replicas", () => {
    fc.assert(
      fc.property(clusterArbitrary, fc.array(modelArbitrary, { maxLength: 8 }), (snapshot, models) => {
        const placed: AssumedShard[] = [];
        models.forEach((model, position) => {
          const replicaId = `${model.id}-bbbb${position}`;
          const record = place({ model, replicaId, snapshot, settings, assume: { placed } });
          if (record.outcome.kind !== "placed") return;
          const { shareGpu } = model.spec.resources;
          for (const shard of record.outcome.shards) placed.push({ ...shard, replicaId, modelId: model.id, shareGpu });
        });
        const held = [...snapshot.replicas.flatMap((replica) => replica.shards), ...placed].filter(
          (shard) => !("releasedAtMs" in shard) || shard.releasedAtMs === null,
        );
        for (const gpu of snapshot.nodes.flatMap((node) => node.gpus)) {
          const here = held.filter((shard) => shard.gpuUuids.includes(gpu.uuid));
          if (here.length > 1) expect(here.every((shard) => shard.shareGpu)).toBe(true);
          if (!placed.some((shard) => shard.gpuUuids.includes(gpu.uuid))) continue;
          const sum = here.reduce((total, shard) => total + shard.memoryMibPerGpu, 0);
          expect(sum + settings.reserveMibPerGpu).toBeLessThanOrEqual(gpu.totalMib as number);
        }
      }),
      runs,
    );
  });

  it("says the same whatever order nodes, GPUs, replicas, drains and cordons are read in", () => {
    fc.assert(
      fc.property(clusterArbitrary, modelArbitrary, (snapshot, model) => {
        const reversed = {
          ...snapshot,
          nodes: snapshot.nodes.toReversed().map((node) => ({
            ...node,
            gpus: node.gpus.toReversed(),
            cordons: node.cordons.toReversed(),
            observations: node.observations.toReversed(),
          })),
          replicas: snapshot.replicas.toReversed(),
          drains: snapshot.drains.toReversed(),
        };
        const record = place({ model, replicaId: null, snapshot, settings });
        expect(place({ model, replicaId: null, snapshot: reversed, settings })).toEqual(record);
      }),
      runs,
    );
  });
});
