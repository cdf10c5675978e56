import { createLogger } from "@llmgw/service";
import { ManualClock } from "@llmgw/service/testing";
import type { AgentSyncAnswer, AgentSyncRequest } from "@llmgw/wire";
import { describe, expect, it } from "vitest";
import { nothingDesired } from "../supervise/shard-state.ts";
import { desiredAnswer } from "../supervise/testing/reducer-bench.ts";
import type { AdminClient, Answered } from "./admin-client.ts";
import type { Identity } from "./identity.ts";
import { SyncLoop } from "./sync-loop.ts";

const identity: Identity = { nodeId: "node_1", credential: "c1", clusterId: "cluster_1" };

/** A loop against scripted answers; a poll without one is held until news ends it. */
function bench(answers: Answered<AgentSyncAnswer>[], own: Identity | null = identity, joined: Identity = identity) {
  const polls: AgentSyncRequest[] = [];
  const saved: Identity[] = [];
  let desired = nothingDesired;
  const client: AdminClient = {
    join: async () => ({ kind: "ok", value: joined }),
    sync: (_credential, body, signal) => {
      polls.push(body);
      const answer = answers.shift();
      if (answer !== undefined) return Promise.resolve(answer);
      return new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
      );
    },
    close: async () => undefined,
  };
  const clock = new ManualClock();
  const loop = new SyncLoop({
    client,
    node: {
      state: () => ({ desired, shards: new Map(), hold: null }),
      report: () => ({
        ...{ name: "alpha", address: "127.0.0.1", agentVersion: "1", simulated: true, labels: {}, engines: [] },
        ...{ sources: {}, gpus: null, gpuProbeError: null, shards: [] },
      }),
      exitedIds: () => [],
      apply: async (answer) => {
        if (answer.kind === "desired")
          desired = { ...nothingDesired, clusterId: answer.clusterId, version: answer.version };
      },
      answerLogs: async ({ requestId }) => ({ requestId, lines: ["line"], truncated: false }),
    },
    identity: {
      load: async () => own,
      save: async (next) => {
        saved.push(next);
      },
      joinToken: "jt",
      name: "alpha",
      simulated: true,
    },
    machine: { machineId: "m", bootId: "b" },
    session: "session_1",
    clock,
    log: createLogger({ name: "agent", level: "silent" }),
    retry: { baseMs: 1_000, maxMs: 8_000 },
    random: () => 1,
  });
  const stop = new AbortController();
  const running = loop.run(stop.signal);
  const end = async () => {
    stop.abort(new Error("test"));
    await running;
  };
  return { loop, polls, saved, clock, end };
}

const ok = (value: AgentSyncAnswer) => ({ kind: "ok", value }) as const;
const down = { kind: "unavailable", message: "down" } as const;

describe("the sync loop", () => {
  it("acknowledges a new version at once, and then holds a poll", async () => {
    const { polls, clock, end } = bench([ok(desiredAnswer(3))]);
    await clock.advance(0);
    expect(polls.map(({ appliedVersion }) => appliedVersion)).toEqual([0, 3]);
    await end();
  });

  it("waits as long as it is told when nothing is new", async () => {
    const unchanged = {
      kind: "unchanged",
      protocol: 1,
      clusterId: "cluster_1",
      version: 0,
      pollAfterMs: 4_000,
    } as const;
    const { polls, clock, end } = bench([ok(unchanged)]);
    await clock.advance(3_999);
    expect(polls).toHaveLength(1);
    await clock.advance(1);
    expect(polls).toHaveLength(2);
    await end();
  });

  it("ends a running poll and sends the next one at once when there is news", async () => {
    const { loop, polls, clock, end } = bench([]);
    await clock.advance(0);
    loop.wake();
    await clock.advance(0);
    expect(polls).toHaveLength(2);
    await end();
  });

  it("backs off from an admin that is down, longer each time up to a bound, and never gives up", async () => {
    const { polls, clock, end } = bench([down, down, down, down, down, down]);
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 8_000, 8_000]) {
      const before = polls.length;
      await clock.advance(waitMs - 1);
      expect(polls).toHaveLength(Math.max(before, 1));
      await clock.advance(1);
      expect(polls).toHaveLength(Math.max(before, 1) + 1);
    }
    await end();
  });

  it("sends log lines that were asked for with the next poll, once", async () => {
    const wish = { requestId: "r1", replicaId: "demo", generation: 1, rank: 0, lines: 5, previous: false };
    const wanted = { ...desiredAnswer(1), logs: [wish] } as AgentSyncAnswer;
    const { polls, clock, end } = bench([ok(wanted), ok(desiredAnswer(2))]);
    await clock.advance(0);
    expect(polls.map(({ report }) => report.logs.map(({ requestId }) => requestId))).toEqual([[], ["r1"], []]);
    await end();
  });

  it("joins again when its credential is refused, but never another cluster than the one it runs shards of", async () => {
    const refused = { kind: "refused", status: 401, message: "unknown credential" } as const;
    const other = { nodeId: "node_9", credential: "c9", clusterId: "cluster_2" };
    const { loop, polls, saved, clock, end } = bench([ok(desiredAnswer(3)), refused], identity, other);
    await clock.advance(20_000);
    expect(saved).toEqual([]);
    expect(polls.at(-1)?.clusterId).toBe("cluster_1");
    expect(loop.status.problem).toContain("cluster_2");
    await end();
    const same = bench([refused], identity, { ...identity, credential: "c2" });
    await same.clock.advance(20_000);
    expect(same.saved).toMatchObject([{ credential: "c2" }]);
    await same.end();
  });
});
