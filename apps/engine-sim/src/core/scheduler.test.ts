import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKvCache } from "./kv-cache.ts";
import type { LatencySettings } from "./latency.ts";
import { createRandom } from "./random.ts";
import { createScheduler, type Scheduler, type SchedulerEvent } from "./scheduler.ts";

const LATENCY: LatencySettings = { ttftMs: 100, prefillMsPerToken: 1, itlMs: 10, jitter: 0, loadFactor: 1 };

interface Setup {
  maxNumSeqs?: number;
  blocks?: number;
  maxQueuedRequests?: number;
  maxQueuedTokens?: number;
  latency?: Partial<LatencySettings>;
  prefixCaching?: boolean;
}

function setup(options: Setup = {}) {
  const kv = createKvCache({
    blocks: options.blocks ?? 1000,
    blockSize: 16,
    prefixCaching: options.prefixCaching ?? true,
  });
  const scheduler = createScheduler({
    maxNumSeqs: options.maxNumSeqs ?? 2,
    maxQueuedRequests: options.maxQueuedRequests ?? Number.POSITIVE_INFINITY,
    maxQueuedTokens: options.maxQueuedTokens ?? Number.POSITIVE_INFINITY,
    kv,
    latency: () => ({ ...LATENCY, ...options.latency }),
    random: createRandom(7),
  });
  return { kv, scheduler };
}

const sequence = (id: string, promptTokens: number, outputTokens: number) => ({
  id,
  promptTokens,
  outputTokens,
  prefixHashes: [] as number[],
});

/** Runs until nothing is due any more. */
function runOut(scheduler: Scheduler): SchedulerEvent[] {
  const events: SchedulerEvent[] = [];
  for (let dueMs = scheduler.nextDueMs(); dueMs !== undefined; dueMs = scheduler.nextDueMs()) {
    events.push(...scheduler.advance(dueMs));
  }
  return events;
}

const finishedIds = (events: readonly SchedulerEvent[]) =>
  events.flatMap((event) => (event.kind === "finished" ? [event.id] : []));

describe("scheduler", () => {
  it("gives the first token after the prefill and each further one after the inter-token time", () => {
    const { scheduler } = setup();
    scheduler.submit(sequence("a", 50, 3), 1000);
    expect(scheduler.nextDueMs()).toBe(1150);
    expect(scheduler.advance(1149)).toEqual([]);
    expect(scheduler.advance(1170)).toEqual([
      { kind: "prefilled", id: "a", promptTokens: 50, cachedTokens: 0 },
      { kind: "token", id: "a", index: 0, sinceMs: 150 },
      { kind: "token", id: "a", index: 1, sinceMs: 10 },
      { kind: "token", id: "a", index: 2, sinceMs: 10 },
      {
        kind: "finished",
        id: "a",
        promptTokens: 50,
        generatedTokens: 3,
        timing: { arrivedMs: 1000, scheduledMs: 1000, firstTokenMs: 1150, finishedMs: 1170 },
      },
    ]);
  });

  it("runs at most max-num-seqs at once and starts the others in the order they came", () => {
    const { scheduler } = setup({ maxNumSeqs: 2 });
    for (const id of ["a", "b", "c", "d"]) {
      scheduler.submit(sequence(id, 10, 5), 0);
    }
    expect([scheduler.runningCount(), scheduler.waitingCount()]).toEqual([2, 2]);
    expect(finishedIds(runOut(scheduler))).toEqual(["a", "b", "c", "d"]);
  });

  it("ends an embedding with its prefill and without a token", () => {
    const { scheduler } = setup();
    scheduler.submit(sequence("a", 10, 0), 0);
    expect(runOut(scheduler).map((event) => event.kind)).toEqual(["prefilled", "finished"]);
  });

  it("frees the place and the blocks of an aborted sequence at once, for the next in the queue", () => {
    const { scheduler, kv } = setup({ maxNumSeqs: 1 });
    scheduler.submit(sequence("a", 160, 100), 0);
    scheduler.submit(sequence("b", 16, 1), 0);
    expect(kv.usedBlocks()).toBe(10);
    expect(scheduler.abort("a", 50)).toEqual({ promptTokens: 160, generatedTokens: 0 });
    expect([scheduler.runningCount(), scheduler.waitingCount(), kv.usedBlocks()]).toEqual([1, 0, 1]);
    expect(finishedIds(runOut(scheduler))).toEqual(["b"]);
    expect(kv.usedBlocks()).toBe(0);
  });

  it("never delivers a token of an aborted sequence", () => {
    const { scheduler } = setup();
    scheduler.submit(sequence("a", 10, 5), 0);
    scheduler.abort("a", 10);
    expect(scheduler.nextDueMs()).toBeUndefined();
    expect(scheduler.abort("a", 10)).toBeUndefined();
  });

  it("keeps everybody behind a head that does not fit into the cache waiting", () => {
    const { scheduler } = setup({ maxNumSeqs: 8, blocks: 10 });
    scheduler.submit(sequence("big", 100, 20), 0);
    scheduler.submit(sequence("bigger", 120, 10), 0);
    scheduler.submit(sequence("small", 10, 1), 0);
    expect([scheduler.runningCount(), scheduler.waitingCount()]).toEqual([1, 2]);
    expect(finishedIds(runOut(scheduler))[0]).toBe("big");
  });

  it("pushes out the sequence started last when the cache is full, and still produces every token of it once", () => {
    const { scheduler } = setup({ maxNumSeqs: 2, blocks: 6 });
    scheduler.submit(sequence("first", 32, 40), 0);
    scheduler.submit(sequence("second", 32, 40), 0);
    const events = runOut(scheduler);
    expect(events.filter((event) => event.kind === "preempted")).toEqual([{ kind: "preempted", id: "second" }]);
    const tokens = events.flatMap((event) => (event.kind === "token" && event.id === "second" ? [event.index] : []));
    expect(tokens).toEqual(Array.from({ length: 40 }, (_, index) => index));
    expect(finishedIds(events)).toEqual(["first", "second"]);
  });

  it("computes only what the prefix cache does not have", () => {
    const { scheduler } = setup({ maxNumSeqs: 1 });
    scheduler.submit({ ...sequence("a", 64, 1), prefixHashes: [1, 2, 3, 4] }, 0);
    runOut(scheduler);
    scheduler.submit({ ...sequence("b", 64, 1), prefixHashes: [1, 2, 3, 9] }, 1000);
    expect(scheduler.nextDueMs()).toBe(1000 + 100 + 16);
    expect(scheduler.advance(2000)[0]).toEqual({ kind: "prefilled", id: "b", promptTokens: 64, cachedTokens: 48 });
  });

  it("slows every sequence down as the batch fills", () => {
    const { scheduler } = setup({ maxNumSeqs: 3, latency: { loadFactor: 3, ttftMs: 0, prefillMsPerToken: 0 } });
    for (const id of ["a", "b", "c"]) {
      scheduler.submit(sequence(id, 1, 2), 0);
    }
    scheduler.advance(0);
    expect(scheduler.nextDueMs()).toBe(30);
  });

  it("refuses what goes beyond the queue's bounds", () => {
    const byCount = setup({ maxNumSeqs: 1, maxQueuedRequests: 1 }).scheduler;
    byCount.submit(sequence("a", 10, 1), 0);
    byCount.submit(sequence("b", 10, 1), 0);
    expect(byCount.submit(sequence("c", 10, 1), 0)).toEqual({ kind: "queue_full", limit: "max_num_queued_reqs" });
    const byTokens = setup({ maxNumSeqs: 1, maxQueuedTokens: 15 }).scheduler;
    byTokens.submit(sequence("a", 10, 1), 0);
    byTokens.submit(sequence("b", 10, 1), 0);
    expect(byTokens.submit(sequence("c", 10, 1), 0)).toEqual({ kind: "queue_full", limit: "max_num_queued_tokens" });
  });

  it("repeats itself exactly with the same seed", () => {
    const run = () => {
      const { scheduler } = setup({ latency: { jitter: 0.3 } });
      scheduler.submit(sequence("a", 10, 20), 0);
      scheduler.submit(sequence("b", 10, 20), 0);
      return runOut(scheduler);
    };
    expect(run()).toEqual(run());
  });

  it("whatever is submitted and aborted: limits hold, all tokens come in order, and nothing is left behind", () => {
    const action = fc.oneof(
      fc.record({
        kind: fc.constant("submit" as const),
        prompt: fc.integer({ min: 1, max: 120 }),
        output: fc.integer({ min: 0, max: 40 }),
        hashes: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 6 }),
      }),
      fc.record({ kind: fc.constant("abort" as const), which: fc.nat() }),
      fc.record({ kind: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 300 }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const { scheduler, kv } = setup({ maxNumSeqs: 3, blocks: 12, latency: { jitter: 0.2 } });
        const wanted = new Map<string, number>();
        const seen = new Map<string, number>();
        let nowMs = 0;
        const check = (events: readonly SchedulerEvent[]) => {
          for (const event of events) {
            if (event.kind === "token") {
              expect(event.index).toBe(seen.get(event.id) ?? 0);
              seen.set(event.id, event.index + 1);
            } else if (event.kind === "finished") {
              expect(seen.get(event.id) ?? 0).toBe(wanted.get(event.id));
              wanted.delete(event.id);
            }
          }
          expect(scheduler.runningCount()).toBeLessThanOrEqual(3);
          expect(kv.usageRatio()).toBeLessThanOrEqual(1);
        };
        actions.forEach((each, index) => {
          if (each.kind === "submit") {
            wanted.set(`${index}`, each.output);
            const prefixHashes = each.hashes.slice(0, Math.floor(each.prompt / 16));
            scheduler.submit({ ...sequence(`${index}`, each.prompt, each.output), prefixHashes }, nowMs);
          } else if (each.kind === "abort") {
            const ids = scheduler.ids();
            const id = ids[each.which % Math.max(1, ids.length)];
            if (id !== undefined) {
              scheduler.abort(id, nowMs);
              wanted.delete(id);
            }
          } else {
            nowMs += each.ms;
            check(scheduler.advance(nowMs));
          }
        });
        check(runOut(scheduler));
        expect([...wanted.keys(), ...scheduler.ids()]).toEqual([]);
        expect([scheduler.runningCount(), scheduler.waitingCount(), kv.usedBlocks()]).toEqual([0, 0, 0]);
      }),
    );
  });
});
