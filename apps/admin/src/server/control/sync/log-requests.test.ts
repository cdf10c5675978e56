import { createLogger, systemClock } from "@llmgw/service";
import { describe, expect, it } from "vitest";
import type { LogRequestStore, StoredLogAnswer, StoredLogRequest } from "../../db/log-request-store.ts";
import { LogRequests } from "./log-requests.ts";

/** The table that all admins share. */
function sharedStore(): LogRequestStore & { readonly size: () => number } {
  const rows = new Map<string, StoredLogRequest & { answer: StoredLogAnswer | null }>();
  return {
    size: () => rows.size,
    add: async (request) => void rows.set(request.id, { ...request, answer: null }),
    open: async () => [...rows.values()].filter(({ answer }) => answer === null),
    answer: async (id, answer) => {
      const row = rows.get(id);
      if (row !== undefined) row.answer = answer;
    },
    answerOf: async (id) => rows.get(id)?.answer ?? null,
    remove: async (id) => void rows.delete(id),
  };
}

const log = createLogger({ name: "test", level: "silent" });
const wanted = { replicaId: "demo-abcde", generation: 1, rank: 0, lines: 10, previous: false };
const patience = { timeoutMs: 10_000, signal: new AbortController().signal };

describe("wishes for log lines", () => {
  it("reach an agent that polls another admin, and its answer comes back to the one that was asked", async () => {
    const store = sharedStore();
    const [asked, polled] = [1, 2].map(() => new LogRequests({ store, clock: systemClock, log, lookMs: 5 }));
    if (asked === undefined || polled === undefined) throw new Error("two admins");
    const running = new AbortController();
    const runs = [asked, polled].map((one) => one.run(running.signal));
    const answer = asked.ask("node_a", wanted, patience);
    await new Promise<void>((resolve) => polled.onNew(resolve));
    expect(polled.hasNew("node_b")).toBe(false);
    const [request] = polled.take("node_a");
    expect(request).toMatchObject(wanted);
    polled.settle([{ requestId: request?.requestId ?? "", lines: ["ready"], truncated: false }]);
    expect(await answer).toMatchObject({ lines: ["ready"], truncated: false });
    expect(store.size()).toBe(0);
    running.abort();
    await Promise.all(runs);
  });

  it("are answered without the database by an agent that polls here", async () => {
    const gone = async () => {
      throw new Error("the database is gone");
    };
    const store = { add: gone, open: gone, answer: gone, answerOf: gone, remove: gone };
    const requests = new LogRequests({ store, clock: systemClock, log, lookMs: 5 });
    const answer = requests.ask("node_a", wanted, patience);
    const [request] = requests.take("node_a");
    requests.settle([{ requestId: request?.requestId ?? "", lines: ["ready"], truncated: true }]);
    expect(await answer).toMatchObject({ lines: ["ready"], truncated: true });
  });
});
