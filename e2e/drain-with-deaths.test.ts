import { expect, test } from "vitest";
import { Cluster } from "./harness/cluster.ts";
import { drainWithDeath, victims } from "./harness/drain-with-death.ts";
import { oneGpuModel } from "./harness/models.ts";

test("kill -9 of admin, agent, router or Postgres in the middle of a drain fails no request elsewhere and changes no deadline", async () => {
  await using cluster = await Cluster.start({ nodes: ["sim:1x80GiB", "sim:1x80GiB"], routers: 2 });
  await cluster.deploy(oneGpuModel);
  for (const victim of victims) {
    const report = await drainWithDeath(cluster, { victim, afterMs: 2_000, deadMs: 2_000, longTokens: 300 });
    expect(report.failed, victim).toEqual([]);
    expect(report.requests, victim).toBeGreaterThan(100);
    expect(report.drain, victim).toMatchObject({ result: "complete", deadlineAt: report.deadlineAtStart });
    expect(report.leastServing, victim).toBeGreaterThanOrEqual(1);
    expect(report.mostReplicas, victim).toBeLessThanOrEqual(2);
    expect(report.enginesLeft, victim).toBe(1);
    await cluster.client.nodes.setAvailability.mutate({ node: report.from, target: "active" });
    await cluster.serving("m1", 1);
  }
}, 600_000);
