import { setTimeout as sleep } from "node:timers/promises";
import type { AuditView, DrainView } from "@llmgw/api";
import { expect } from "vitest";
import type { Cluster } from "./cluster.ts";
import { enginePids } from "./engines.ts";
import { Load } from "./load.ts";
import { waitFor } from "./wait.ts";
import { Watcher } from "./watcher.ts";

/** The drain that somebody is asked to start and to follow. */
export interface DrainOrder {
  readonly from: string;
  /** The only node that its replica can move to. */
  readonly to: string;
  readonly replicaId: string;
  readonly reason: string;
}

export interface DrainBy {
  /** Starts the drain as an operator would and follows it until it is told that the node is drained. */
  readonly drain: (order: DrainOrder) => Promise<void>;
  /** Who the audit has to name. */
  readonly actor: Pick<AuditView, "actorKind" | "actor">;
}

const model = "m1";
/** 60 s at 50 ms a token. */
const longTokens = 1_200;
/** Long streams that begin after the original takes nothing new: they outlive it on the replacement. */
const longOnReplacement = 5;

/**
 * The drain scenario, whoever starts the drain: `m1` has one replica and two nodes that fit it; 20 requests a second come
 * through all routers, half of them streams, some 60 s long; the node of the replica is drained. Fails unless no request
 * failed or was cut, at each sample every router had an endpoint to send to and at most two replicas held a place, the
 * node ended drained and empty, and the audit says who asked, why, and what followed in which order.
 */
export async function drainUnderLoad(cluster: Cluster, by: DrainBy): Promise<void> {
  const order = await orderFor(cluster);
  const watcher = new Watcher(cluster, model).start();
  const urls = cluster.routers.map(({ url }) => url);
  const load = new Load({ urls, apiKey: cluster.apiKey, model, perSecond: 20, longEvery: 40, longTokens }).start();
  await sleep(5_000);
  const followed = by.drain(order);
  const longEnds = endLongStreams(cluster, { load, from: order.from });
  await Promise.all([followed, longEnds]);
  await sleep(2_000);
  await load.finish();
  await watcher.stop();

  expect(load.failed).toEqual([]);
  expect(watcher.samples).toBeGreaterThan(100);
  expect(watcher.leastServing).toBeGreaterThanOrEqual(1);
  expect(watcher.mostReplicas).toBeLessThanOrEqual(2);
  const drain = await drainedAndEmpty(cluster, order);
  expectLongStreams(load, { drain, replicaId: order.replicaId });
  await expectAudit(cluster, { order, drain, actor: by.actor });
}

async function orderFor(cluster: Cluster): Promise<DrainOrder> {
  const [replica] = await cluster.client.replicas.list.query({ model });
  const from = replica?.shards[0]?.nodeName;
  const to = cluster.nodes.find(({ name }) => name !== from)?.name;
  if (replica === undefined || from === undefined || to === undefined) {
    throw new Error(`expected one replica of ${model} and a second node; found ${JSON.stringify(replica)}`);
  }
  return { from, to, replicaId: replica.id, reason: "replace PSU 2" };
}

/** Lets some more long streams begin when the original takes nothing new, then none: the test need not wait for them. */
async function endLongStreams(cluster: Cluster, { load, from }: { load: Load; from: string }): Promise<void> {
  await waitFor(
    "the original to take nothing new",
    async () => (await latestDrain(cluster, from))?.moves[0]?.stepAt["draining"] !== undefined,
    { timeoutMs: 150_000, everyMs: 500, describe: () => load.inFlight },
  );
  const enough = load.longStarted + longOnReplacement;
  await waitFor(`long stream ${enough} to begin`, () => load.longStarted >= enough);
  load.endLong();
}

async function latestDrain(cluster: Cluster, node: string): Promise<DrainView | undefined> {
  return (await cluster.client.drains.list.query({ node }))[0];
}

async function drainedAndEmpty(cluster: Cluster, { from, to, replicaId }: DrainOrder): Promise<DrainView> {
  const drain = await latestDrain(cluster, from);
  if (drain === undefined) throw new Error(`${from} was never drained`);
  expect(drain).toMatchObject({ result: "complete", losses: [], unconfirmedShards: 0 });
  expect(drain.moves).toMatchObject([{ replicaId, step: "stopped", lost: false }]);
  const node = await cluster.client.nodes.get.query({ node: from });
  expect(node.availability).toBe("drained");
  expect(node.shards).toEqual([]);
  const replicas = await cluster.client.replicas.list.query({ model });
  const placed = replicas.filter(({ phase }) => phase !== "stopped");
  expect(placed.map(({ id, phase, shards }) => [id, phase, shards[0]?.nodeName])).toEqual([
    [drain.moves[0]?.replacementId, "serving", to],
  ]);
  expect(enginePids(cluster.dir)).toHaveLength(1);
  return drain;
}

/** The drain met what it promises to wait for: long streams were open on the original when it took its last request. */
function expectLongStreams(load: Load, { drain, replicaId }: { drain: DrainView; replicaId: string }): void {
  const drainsAt = Date.parse(drain.moves[0]?.stepAt["draining"] ?? "");
  const long = load.outcomes.filter(({ kind }) => kind === "long");
  const caught = long.filter(
    ({ endpoint, startedAt, endedAt }) => endpoint.startsWith(replicaId) && startedAt < drainsAt && endedAt > drainsAt,
  );
  expect(caught.length).toBeGreaterThan(3);
  expect(long.filter(({ endpoint }) => !endpoint.startsWith(replicaId)).length).toBeGreaterThanOrEqual(
    longOnReplacement,
  );
}

/** Who asked and why is the first row; every move follows from it in the order that makes a drain safe. */
async function expectAudit(
  cluster: Cluster,
  { order, drain, actor }: { order: DrainOrder; drain: DrainView; actor: DrainBy["actor"] },
): Promise<void> {
  const { rows } = await cluster.client.audit.list.query({ cause: drain.id, limit: 200 });
  const [asked, ...caused] = rows.reverse();
  expect(asked).toMatchObject({
    verb: "nodes.setAvailability",
    target: order.from,
    reason: order.reason,
    outcome: "ok",
    ...actor,
  });
  const original = order.replicaId;
  const replacement = drain.moves[0]?.replacementId;
  const isStep = ({ verb }: { verb: string }) => verb === "drain.step";
  expect(caused.filter((row) => !isStep(row)).map(({ verb, target }) => `${verb} ${target}`)).toEqual([
    `replica.moving ${original}`,
    `replica.create ${replacement}`,
    `replica.place ${replacement}`,
    `replica.offer ${replacement}`,
    `replica.serving ${replacement}`,
    `replica.draining ${original}`,
    `replica.stopping ${original}`,
    `shard.stop ${original}/0`,
    `shard.release ${original}/0`,
    `replica.stopped ${original}`,
    `drain.end ${drain.id}`,
  ]);
  const steps = caused.filter(isStep).map(({ after }) => (after as { step: string }).step);
  const longSteps = ["replacementServing", "draining", "stopped"]; // the others may pass within one decision
  expect(steps.filter((step) => longSteps.includes(step))).toEqual(longSteps);
}
