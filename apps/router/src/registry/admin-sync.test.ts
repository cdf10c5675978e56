import { createLogger, systemClock } from "@llmgw/service";
import type { EndpointTable, RouterSyncAnswer, RouterSyncRequest } from "@llmgw/wire";
import { afterEach, describe, expect, test } from "vitest";
import { waitFor } from "../testing/test-router.ts";
import type { Answered } from "./admin-client.ts";
import { AdminSync } from "./admin-sync.ts";
import { Registry } from "./registry.ts";
import { defaultRouterSettings } from "./settings.ts";

const log = createLogger({ name: "router", level: "silent" });

function tableOf(
  version: number,
  state: "serving" | "draining" = "serving",
  url = "http://127.0.0.1:9",
): EndpointTable {
  const endpoint = {
    replica: "m1-aaaaa",
    generation: 1,
    url,
    metricsUrl: null,
    pool: "none",
    engine: "sim" as const,
    state,
    maxInflight: null,
    maxConcurrent: null,
    apiKey: null,
  };
  const timeouts = { firstByteMs: null, idleMs: null, progressMs: null };
  return {
    clusterId: "cluster_1",
    version,
    keys: [],
    models: [{ id: "m1", aliases: [], policy: "least-load", timeouts, usageInjection: false, endpoints: [endpoint] }],
    routers: 1,
  };
}

const answer = (version: number, clusterId = "cluster_1"): RouterSyncAnswer => ({
  kind: "table",
  protocol: 1,
  clusterId,
  version,
  routers: 1,
  table: { ...tableOf(version), clusterId },
  pollAfterMs: 0,
});

/** An admin that holds each poll until the test answers it, and a router that talks to it. */
function setUp(disk: EndpointTable | null = null) {
  const polls: { body: RouterSyncRequest; reply: (answered: Answered) => void; isEnded: () => boolean }[] = [];
  const written: number[] = [];
  const registry = new Registry({ settings: defaultRouterSettings, clock: systemClock, random: Math.random, log });
  const sync = new AdminSync({
    client: {
      url: "http://admin",
      sync: (body, _timeoutMs, signal) =>
        new Promise((resolve, reject) => {
          let isEnded = false;
          signal.addEventListener("abort", () => {
            isEnded = true;
            reject(signal.reason);
          });
          polls.push({ body, reply: resolve, isEnded: () => isEnded });
        }),
    },
    registry,
    keysMaxAgeMs: 86_400_000,
    store: {
      confirm: () => Promise.resolve(),
      confirmedAtMs: () => Promise.resolve(null),
      read: () => Promise.resolve(disk === null ? { kind: "absent" } : { kind: "ok", value: disk }),
      write: (table) => {
        written.push(table.version);
        return Promise.resolve();
      },
    },
    routerId: "router_1",
    session: "session_1",
    facts: () => ({ name: "r", address: "http://127.0.0.1:8080", version: "1" }),
    clock: systemClock,
    log,
    random: Math.random,
  });
  const stop = new AbortController();
  const running = sync.run(stop.signal);
  const poll = async (index: number) => {
    await waitFor(() => polls.length > index);
    const found = polls[index];
    if (found === undefined) throw new Error(`no poll ${index}`);
    return found;
  };
  return { polls, written, registry, sync, stop, running, poll };
}

describe("the link to the admin", () => {
  const setUps: ReturnType<typeof setUp>[] = [];
  const started = (disk: EndpointTable | null = null) => {
    const made = setUp(disk);
    setUps.push(made);
    return made;
  };
  afterEach(async () => {
    for (const { stop, running, registry } of setUps.splice(0)) {
      stop.abort();
      await running;
      for (const endpoint of registry.endpoints) await endpoint.destroy();
    }
  });

  test("acknowledges a table by the next poll, sent at once, and keeps it on disk", async () => {
    const { poll, registry, written } = started();
    expect((await poll(0)).body).toMatchObject({ clusterId: null, appliedVersion: 0, leaving: false });
    (await poll(0)).reply({ kind: "ok", answer: answer(4) });
    const next = await poll(1);
    expect(next.body).toMatchObject({ clusterId: "cluster_1", appliedVersion: 4 });
    expect(next.body.report.endpoints).toMatchObject([{ replicaId: "m1-aaaaa", generation: 1, probe: "unknown" }]);
    expect(registry.table?.version).toBe(4);
    expect(written).toEqual([4]);
  });

  test("never takes a table of another cluster or of a lower version, and says so", async () => {
    const { poll, registry, sync } = started(tableOf(7));
    await sync.restore();
    (await poll(0)).reply({ kind: "ok", answer: answer(9, "cluster_2") });
    await waitFor(() => sync.status.problem !== null);
    expect(sync.status.problem).toContain("cluster_2");
    expect(registry.table?.version).toBe(7);

    const lower = started(tableOf(7));
    await lower.sync.restore();
    (await lower.poll(0)).reply({ kind: "ok", answer: answer(6) });
    await waitFor(() => lower.sync.status.problem !== null);
    expect(lower.sync.status.problem).toContain("version 6");
    expect(lower.registry.table?.version).toBe(7);
  });

  test("ends its poll and reports at once when a probe's result changes", async () => {
    const { poll, registry } = started();
    (await poll(0)).reply({ kind: "ok", answer: answer(1) });
    const held = await poll(1);
    const [endpoint] = registry.endpoints;
    if (endpoint === undefined) throw new Error("the table has no endpoint");
    endpoint.probe = "ok";
    const next = await poll(2);
    expect(held.isEnded()).toBe(true);
    expect(next.body.report.endpoints).toMatchObject([{ probe: "ok" }]);
  });

  test("reports at once when a draining endpoint becomes empty", async () => {
    const { poll, registry, polls } = started();
    (await poll(0)).reply({ kind: "ok", answer: answer(1) });
    await poll(1);
    const [endpoint] = registry.endpoints;
    const dispatch = endpoint?.begin(0, 1_000);
    if (endpoint === undefined || dispatch === undefined || dispatch === null) throw new Error("not dispatched");
    (await poll(1)).reply({ kind: "ok", answer: { ...answer(2), kind: "table", table: tableOf(2, "draining") } });
    expect((await poll(2)).body.report.endpoints).toMatchObject([{ inflight: 1 }]);
    const before = polls.length;
    dispatch.end({ kind: "success" }, 1);
    const isEmpty = () => polls.slice(before).some(({ body }) => body.report.endpoints[0]?.inflight === 0);
    await waitFor(isEmpty);
  });

  test("says goodbye with the last message", async () => {
    const { poll, sync, stop, running } = started();
    await poll(0);
    stop.abort();
    await running;
    const goodbye = sync.sayGoodbye(new AbortController().signal);
    const last = await poll(1);
    last.reply({
      kind: "ok",
      answer: { kind: "unchanged", protocol: 1, clusterId: "c", version: 0, routers: 1, pollAfterMs: 0 },
    });
    await goodbye;
    expect(last.body.leaving).toBe(true);
  });
});
