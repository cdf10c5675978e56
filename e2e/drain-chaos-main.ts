import { Cluster } from "./harness/cluster.ts";
import { type DeathPlan, drainWithDeath, victims } from "./harness/drain-with-death.ts";
import { oneGpuModel } from "./harness/models.ts";

/**
 * `npm run check:host -- drain-chaos [runs] [seed]`: the drain under load, again and again, each time with `kill -9` of a
 * random program at a random moment. Prints each run's seed; ends at the first run that does not hold.
 */
const runs = Number(process.argv[2] ?? 20);
const firstSeed = Number(process.argv[3] ?? Math.floor(Math.random() * 1_000_000));

/** mulberry32, a small seeded generator: the same seed gives the same plan. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function planOf(seed: number): DeathPlan {
  const next = random(seed);
  return {
    victim: victims[Math.floor(next() * victims.length)] ?? "admin",
    afterMs: Math.floor(next() * 25_000),
    deadMs: 500 + Math.floor(next() * 4_500),
    longTokens: 1_200,
  };
}

await using cluster = await Cluster.start({ nodes: ["sim:1x80GiB", "sim:1x80GiB"], routers: 2 });
await cluster.deploy(oneGpuModel);
let held = 0;
for (let run = 0; run < runs; run += 1) {
  const seed = firstSeed + run;
  const plan = planOf(seed);
  const startedAt = Date.now();
  const report = await drainWithDeath(cluster, plan);
  const problems = [
    report.failed.length === 0
      ? ""
      : `${report.failed.length} requests failed: ${JSON.stringify(report.failed.slice(0, 3))}`,
    report.drain.result === "complete" ? "" : `the drain ended ${report.drain.result}`,
    report.drain.deadlineAt === report.deadlineAtStart ? "" : "the deadline changed",
    report.leastServing >= 1 ? "" : `at some moment ${report.leastServing} endpoints could serve`,
    report.mostReplicas <= 2 ? "" : `at some moment ${report.mostReplicas} replicas existed`,
    report.enginesLeft === 1 ? "" : `${report.enginesLeft} engines are left`,
  ].filter(Boolean);
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  const what = `run ${run + 1}/${runs} seed ${seed}: kill -9 ${plan.victim} ${plan.afterMs} ms into the drain, dead for ${plan.deadMs} ms`;
  console.log(
    `${problems.length === 0 ? "held" : "FAILED"}  ${what}; ${report.requests} requests, ${seconds} s${problems.map((problem) => `\n        ${problem}`).join("")}`,
  );
  if (problems.length > 0) {
    console.log(`logs: ${cluster.dir}`);
    process.env["LLMGW_KEEP"] = "1";
    process.exitCode = 1;
    break;
  }
  held += 1;
  await cluster.client.nodes.setAvailability.mutate({ node: report.from, target: "active" });
  await cluster.serving("m1", 1);
}
console.log(`${held} of ${runs} runs held`);

// What a killed program left half-open in this process must not keep it alive.
process.exit();
