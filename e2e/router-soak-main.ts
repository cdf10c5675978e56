/**
 * `npm run check:host -- router-soak [minutes] [clients]`: clients of all manners against a real router whose engines come, go
 * and fail. At the end nothing may be left over, and every request must have been counted once.
 */
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { LoneRouter } from "./harness/lone-router.ts";
import { MoodyEngine } from "./harness/moody-engine.ts";
import { RouterMetricsReader } from "./harness/router-metrics-reader.ts";
import { SoakClients } from "./harness/soak-clients.ts";
import { waitFor } from "./harness/wait.ts";

const [minutes = 30, clients = 200] = process.argv.slice(2).map(Number);
const SAMPLE_MS = 5_000;

const engines = await Promise.all([1, 2, 3].map(() => MoodyEngine.start()));
const document = (count: number) => ({
  keys: [{ id: "soak", secret: "sk-soak", models: ["*"] }],
  models: [
    {
      id: "m1",
      endpoints: engines.slice(0, count).map(({ url }, index) => ({ id: `r${index + 1}`, url, engine: "none" })),
    },
  ],
  breaker: { cooldownMs: 500, cooldownMaxMs: 1_000 },
  admission: { waitBudgetMs: 2_000 },
});
const router = await LoneRouter.start(document(2), ["--log-level", "error"]);
const pid = router.program.pid ?? -1;
const metrics = new RouterMetricsReader(router.diagnosticsUrl);
const stop = new AbortController();
const traffic = new SoakClients({ url: router.url, key: "sk-soak", count: clients });
const running = traffic.run(stop.signal);
const heaps: number[] = [];
const fds: number[] = [];

const endMs = Date.now() + minutes * 60_000;
for (let turn = 0; Date.now() < endMs; turn += 1) {
  engines[1]?.fail(turn % 6 === 3);
  await router.configure(document(turn % 4 < 2 ? 2 : 3));
  await sleep(Math.min(SAMPLE_MS, Math.max(0, endMs - Date.now())));
  const now = await metrics.read();
  heaps.push(now.sum("nodejs_heap_size_used_bytes"));
  fds.push(readdirSync(`/proc/${pid}/fd`).length);
  if (turn % 6 === 0) {
    console.log(
      `${traffic.sent} requests, heap ${mib(heaps.at(-1))} MiB, ${fds.at(-1)} fds, in flight ${now.sum("llmgw_endpoint_inflight")}`,
    );
  }
}
stop.abort();
await running;

const problems: string[] = [];
const left = await waitFor(
  "the router to be at rest",
  async () => {
    const now = await metrics.read();
    const isAtRest = now.sum("llmgw_endpoint_inflight") === 0 && now.sum("llmgw_admission_queue_depth") === 0;
    return isAtRest && now.sum("llmgw_requests_total") >= traffic.sent ? now : null;
  },
  { timeoutMs: 20_000 },
).catch(() => metrics.read());
const counted = left.sum("llmgw_requests_total");
if (counted !== traffic.sent) problems.push(`${traffic.sent} requests were sent and ${counted} counted`);
for (const name of ["llmgw_endpoint_inflight", "llmgw_admission_queue_depth"]) {
  if (left.sum(name) !== 0) problems.push(`${name} is ${left.sum(name)} at the end`);
}
if (pid !== router.program.pid) problems.push("the router was started anew");
const [early, late] = [lowest(heaps, 0.2, 0.5), lowest(heaps, 0.7, 1)];
if (late > early * 1.1 + 8 * 1_048_576) problems.push(`the heap grew from ${mib(early)} to ${mib(late)} MiB`);
const idleFds = readdirSync(`/proc/${pid}/fd`).length;
console.log(
  `${traffic.sent} requests by ${clients} clients in ${minutes} minutes: ${JSON.stringify(traffic.statuses)}; outcomes ${JSON.stringify(left.by("llmgw_requests_total", "outcome"))}`,
);
console.log(`heap ${mib(early)} → ${mib(late)} MiB, at most ${Math.max(...fds)} fds, ${idleFds} at the end`);
for (const problem of problems) console.log(`PROBLEM: ${problem}`);
await router[Symbol.asyncDispose]();
await Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]()));
process.exitCode = problems.length === 0 ? 0 : 1;

/** Lowest value of a part of the run: what the heap is right after a collection. */
function lowest(values: readonly number[], from: number, to: number): number {
  return Math.min(...values.slice(Math.floor(values.length * from), Math.max(1, Math.ceil(values.length * to))));
}

function mib(bytes = Number.NaN): string {
  return (bytes / 1_048_576).toFixed(1);
}
