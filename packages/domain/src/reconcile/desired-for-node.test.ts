import { describe, expect, test } from "vitest";
import type { Replica } from "../cluster/replica.ts";
import { aModel, aNode, anObservation, aServingReplica, aShard, aSnapshot, testNowMs } from "../testing/index.ts";
import { desiredForNode } from "./desired-for-node.ts";
import { endpointTable } from "./endpoint-table.ts";

const model = aModel();
const node = aNode({ name: "a" });

function told(replica: Replica, observations = replica.shards.map((shard) => anObservation(shard))) {
  const snapshot = aSnapshot({ nodes: [{ ...node, observations }], models: [model], replicas: [replica] });
  const { run, stop } = desiredForNode(snapshot, node.id);
  const keys = (list: readonly { readonly generation: number }[]): readonly number[] =>
    list.map(({ generation }) => generation);
  return {
    run: keys(run.map(({ shard }) => shard)),
    stop: keys(stop),
    quietSince: run[0]?.quietSinceVersion ?? null,
    table: endpointTable(snapshot).map(({ state }) => state),
  };
}

describe("what agents and routers are told of a replica", () => {
  test.each([
    ["starting", { run: [1], stop: [], table: ["serving"] }],
    ["serving", { run: [1], stop: [], table: ["serving"] }],
    ["moving", { run: [1], stop: [], table: ["moving"] }],
    ["draining", { run: [1], stop: [], quietSince: 7, table: ["draining"] }],
  ] as const)("%s: it runs, with its state in the table", (phase, expected) => {
    expect(told(aServingReplica(model, node, { phase, stateVersion: 7 }))).toMatchObject(expected);
  });

  test("starting and not offered: it runs, and no router knows it", () => {
    const replica = aServingReplica(model, node, { phase: "starting", offeredAtMs: null });
    expect(told(replica)).toMatchObject({ run: [1], table: [] });
  });

  test.each(["lost", "failed", "pending"] as const)("%s: neither run nor stopped, and in no table", (phase) => {
    const replica = aServingReplica(model, node, { phase, offeredAtMs: null });
    expect(told(replica)).toMatchObject({ run: [], stop: [], table: [] });
  });

  test("ordered to stop: in `stop` until its agent confirms", () => {
    const shard = aShard({ stopRequestedAtMs: testNowMs });
    const replica = aServingReplica(model, node, { phase: "stopping", offeredAtMs: null, shards: [shard] });
    expect(told(replica)).toMatchObject({ run: [], stop: [1], table: [] });
    const released = { ...shard, releasedAtMs: testNowMs };
    expect(told({ ...replica, shards: [released] }, [])).toMatchObject({ run: [], stop: [] });
  });

  test("an older generation, or a released shard, that still runs is stopped; its exit needs no answer", () => {
    const old = anObservation(aShard({ generation: 1 }));
    const shards = [aShard({ generation: 2 })];
    const replica = aServingReplica(model, node, { generation: 2, shards });
    expect(told(replica, [old])).toMatchObject({ run: [2], stop: [1] });
    expect(told(replica, [{ ...old, phase: "exited" }])).toMatchObject({ run: [2], stop: [] });
  });

  test("an orphan and a generation that is newer than the database run on", () => {
    const replica = aServingReplica(model, node);
    const orphan = anObservation(aShard({ replicaId: "x-zzzzz" }));
    const newer = anObservation(aShard({ generation: 9 }));
    expect(told(replica, [orphan, newer])).toMatchObject({ run: [1], stop: [] });
  });
});
