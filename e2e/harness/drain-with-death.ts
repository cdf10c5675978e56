import { setTimeout as sleep } from "node:timers/promises";
import type { DrainView } from "@llmgw/api";
import type { Cluster } from "./cluster.ts";
import { enginePids } from "./engines.ts";
import { Load, type Outcome } from "./load.ts";
import { waitFor } from "./wait.ts";
import { Watcher } from "./watcher.ts";

export type Victim = "admin" | "agent" | "router" | "postgres";
export const victims: readonly Victim[] = ["admin", "agent", "router", "postgres"];

export interface DeathPlan {
  readonly victim: Victim;
  /** When it gets `kill -9`, after the drain was started, ms. */
  readonly afterMs: number;
  /** How long it stays dead, ms. */
  readonly deadMs: number;
  readonly longTokens: number;
}

export interface DeathReport {
  readonly drain: DrainView;
  readonly deadlineAtStart: string;
  readonly from: string;
  /** Requests that should have been answered and were not: those to the router that was killed do not count. */
  readonly failed: readonly Outcome[];
  readonly requests: number;
  readonly leastServing: number;
  readonly mostReplicas: number;
  readonly enginesLeft: number;
}

/**
 * Drains the node of model `m1`'s only replica under load, kills one program in the middle and starts it again. The
 * first router is never the victim: its requests must not fail for anything that happens here.
 */
export async function drainWithDeath(cluster: Cluster, plan: DeathPlan): Promise<DeathReport> {
  const from = await nodeOf(cluster);
  const urls = cluster.routers.map(({ url }) => url);
  const watcher = new Watcher(cluster, "m1").start();
  const options = { apiKey: cluster.apiKey, model: "m1", perSecond: 20, longEvery: 40, longTokens: plan.longTokens };
  const load = new Load({ ...options, urls }).start();
  await sleep(2_000);
  const change = await cluster.client.nodes.setAvailability.mutate({
    node: from,
    target: "draining",
    graceMs: 600_000,
    reason: "maintenance",
  });
  await sleep(plan.afterMs);
  const killedAt = Date.now();
  await killVictim(cluster, plan.victim, from);
  await sleep(plan.deadMs);
  restart(cluster, plan.victim, from);
  const drain = await waitFor(
    "the drain to end",
    async () => {
      const view = await cluster.client.drains.get.query({ drain: change.drain?.id ?? "" });
      return view.endedAt === null ? null : view;
    },
    { timeoutMs: 240_000, everyMs: 500 },
  );
  const backAt = Date.now();
  await load.finish();
  await watcher.stop();
  const victimUrl = plan.victim === "router" ? urls.at(-1) : undefined;
  const excused = (outcome: Outcome) =>
    outcome.url === victimUrl && outcome.endedAt >= killedAt && outcome.startedAt <= Math.max(backAt, killedAt);
  return {
    drain,
    deadlineAtStart: change.drain?.deadlineAt ?? "",
    from,
    failed: load.failed.filter((outcome) => !excused(outcome)),
    requests: load.outcomes.length,
    leastServing: watcher.leastServing,
    mostReplicas: watcher.mostReplicas,
    enginesLeft: enginePids(cluster.dir).length,
  };
}

/** The node that holds the only replica of `m1`. */
async function nodeOf(cluster: Cluster): Promise<string> {
  const replicas = await cluster.client.replicas.list.query({ model: "m1" });
  const serving = replicas.find((replica) => replica.phase === "serving");
  const node = serving?.shards[0]?.nodeName;
  if (node === undefined) throw new Error(`m1 does not serve: ${JSON.stringify(replicas)}`);
  return node;
}

async function killVictim(cluster: Cluster, victim: Victim, from: string): Promise<void> {
  if (victim === "admin") await cluster.admin.kill();
  else if (victim === "postgres") await cluster.postgres.killTree();
  else if (victim === "router") await cluster.routers.at(-1)?.program.kill();
  else await cluster.nodes.find((node) => node.name === from)?.agent.kill();
}

function restart(cluster: Cluster, victim: Victim, from: string): void {
  if (victim === "admin") cluster.admin.start();
  else if (victim === "postgres") cluster.postgres.start();
  else if (victim === "router") cluster.routers.at(-1)?.program.start();
  else cluster.nodes.find((node) => node.name === from)?.agent.start();
}
