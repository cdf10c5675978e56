import { describe, expect, test } from "vitest";
import type { Replica } from "../cluster/replica.ts";
import type { Router } from "../cluster/router.ts";
import type { EngineActivity, Shard } from "../cluster/shard.ts";
import { defaultControlSettings } from "../cluster/snapshot.ts";
import {
  aModel,
  aNode,
  anEndpointReport,
  anObservation,
  aRouter,
  aServingReplica,
  aSnapshot,
  testNowMs,
} from "../testing/index.ts";
import { readFacts } from "./facts.ts";
import { quietness, unprovenReason } from "./proof.ts";

const settings = defaultControlSettings;
const idle: EngineActivity = { running: 0, waiting: 0, zeroReads: 2, sinceVersion: 5 };
const busy: EngineActivity = { running: 1, waiting: 0, zeroReads: 0, sinceVersion: 5 };

/** A replica that has been draining since version 5, with what its agent and the routers say of it. */
function draining(said: {
  readonly activity: EngineActivity | null;
  readonly routers: readonly Router[];
  readonly replica?: Partial<Replica>;
  readonly controlSinceMs?: number;
}) {
  const model = aModel();
  const node = aNode({ name: "a", gpus: 1 });
  const replica = aServingReplica(model, node, { phase: "draining", stateVersion: 5, ...said.replica });
  const observations = [anObservation(aShardOf(replica), { activity: said.activity })];
  const snapshot = aSnapshot({
    nodes: [{ ...node, observations }],
    models: [model],
    replicas: [replica],
    routers: said.routers,
    ...(said.controlSinceMs === undefined ? {} : { controlSinceMs: said.controlSinceMs }),
  });
  return quietness(readFacts(snapshot, settings), replica);
}

function router(name: string, inflight: number | null, overrides: Partial<Router> = {}): Router {
  const endpoints = inflight === null ? [] : [anEndpointReport({ inflight })];
  return aRouter({ name, appliedVersion: 5, endpoints, ...overrides });
}

const silent: Partial<Router> = { lastSeenAtMs: testNowMs - settings.routerLeaseMs - 1_000 };

describe("proof of quiet", () => {
  test("needs 0 in flight on every live router and an engine that was idle twice", () => {
    expect(draining({ activity: idle, routers: [router("r1", 0), router("r2", 0)] })).toMatchObject({ proven: true });
    expect(draining({ activity: idle, routers: [router("r1", 0), router("r2", 3)] })).toMatchObject({
      proven: false,
      reason: { code: "draining_inflight", params: { inflight: 3, routers: 1 } },
    });
    expect(draining({ activity: { ...idle, zeroReads: 1 }, routers: [router("r1", 0)] })).toMatchObject({
      proven: false,
    });
  });

  test("sums what several routers have in flight", () => {
    expect(draining({ activity: busy, routers: [router("r1", 1), router("r2", 2)] })).toMatchObject({
      reason: { code: "draining_inflight", params: { inflight: 3, routers: 2 } },
    });
  });

  test("takes no word from before the replica drained, neither a router's nor the engine's", () => {
    expect(draining({ activity: idle, routers: [router("r1", 0, { appliedVersion: 4 })] })).toMatchObject({
      routers: false,
      proven: false,
      reason: { code: "awaiting_router_ack", params: { routers: "r1" } },
    });
    const stale = { ...idle, sinceVersion: 4 };
    expect(draining({ activity: stale, routers: [router("r1", 0)] })).toMatchObject({ proven: false });
  });

  test("a router that restarted and counts 0 does not hide what the engine still works on", () => {
    expect(draining({ activity: busy, routers: [router("r1", 0)] })).toMatchObject({
      routers: true,
      proven: false,
      reason: { code: "draining_engine_busy", params: { running: 1 } },
    });
  });

  test("an engine that still counts, or cannot be read, is not waited for after the time it is allowed", () => {
    const since = testNowMs - settings.engineDisagreesMs;
    for (const activity of [busy, null]) {
      const routers = [router("r1", 0)];
      const before = { routersQuietSinceMs: since + 1 };
      expect(draining({ activity, routers, replica: before })).toMatchObject({ proven: false });
      expect(draining({ activity, routers, replica: { routersQuietSinceMs: since } })).toMatchObject({
        proven: true,
        reason: { code: "engine_count_disagreed" },
      });
    }
  });

  test("while a silent router may still send, only the engine's count decides, however long that takes", () => {
    const routers = [router("r1", 0), router("r2", 0, silent)];
    const replica = { routersQuietSinceMs: testNowMs - 10 * settings.engineDisagreesMs };
    expect(draining({ activity: busy, routers, replica })).toMatchObject({
      proven: false,
      reason: { code: "router_may_still_send", params: { routers: "r2" } },
    });
    expect(draining({ activity: null, routers, replica })).toMatchObject({ proven: false });
    expect(draining({ activity: idle, routers, replica })).toMatchObject({ proven: true });
  });

  test("a router that is silent for too long to be sending, or that said goodbye, is not waited for", () => {
    const longAgo = testNowMs - settings.routerLeaseMs - settings.routerMayStillSendMs;
    const replica = { routersQuietSinceMs: testNowMs - settings.engineDisagreesMs };
    for (const gone of [{ lastSeenAtMs: longAgo }, { leftAtMs: testNowMs - 60_000 }]) {
      const routers = [router("r1", 0), router("r2", 4, gone)];
      expect(draining({ activity: busy, routers, replica })).toMatchObject({ proven: true });
    }
  });

  test("right after an admin took the loop every router of the last day counts as live", () => {
    const hourAgo = testNowMs - 3_600_000;
    const routers = [router("r1", 0), router("r2", 0, { lastSeenAtMs: hourAgo, appliedVersion: 4 })];
    const controlSinceMs = testNowMs - settings.routerLeaseMs + 1;
    expect(draining({ activity: idle, routers, controlSinceMs })).toMatchObject({
      proven: false,
      reason: { code: "awaiting_router_ack", params: { routers: "r2" } },
    });
    expect(draining({ activity: idle, routers })).toMatchObject({ proven: true });
  });

  test("a live router without a word on it counts as one that may still send", () => {
    const replica = { routersQuietSinceMs: testNowMs - settings.engineDisagreesMs };
    const routers = [router("r1", null)];
    expect(draining({ activity: busy, routers, replica })).toMatchObject({ proven: false });
    expect(draining({ activity: idle, routers, replica })).toMatchObject({ proven: true });
  });

  test("with no router at all the engine's count is enough", () => {
    expect(draining({ activity: idle, routers: [] })).toMatchObject({ proven: true });
  });
});

describe("proof of serving", () => {
  const model = aModel();
  const node = aNode({ name: "a", gpus: 1 });
  const replica = aServingReplica(model, node, { phase: "starting", stateVersion: 5 });

  function judge(routers: readonly Router[], phase: "ready" | "starting" = "ready") {
    const observations = [anObservation(aShardOf(replica), { phase })];
    const snapshot = aSnapshot({ nodes: [{ ...node, observations }], models: [model], replicas: [replica], routers });
    return unprovenReason(readFacts(snapshot, settings), replica)?.code ?? "proven";
  }

  test("needs the agent's word, and every live router to have applied the change and reached it", () => {
    expect(judge([router("r1", 0)])).toBe("proven");
    expect(judge([router("r1", 0)], "starting")).toBe("awaiting_engine");
    expect(judge([router("r1", 0), router("r2", 0, { appliedVersion: 4 })])).toBe("awaiting_routers");
    expect(judge([router("r1", 0), router("r2", null)])).toBe("awaiting_routers");
    const failed = aRouter({ name: "r2", appliedVersion: 5, endpoints: [anEndpointReport({ probe: "failed" })] });
    expect(judge([router("r1", 0), failed])).toBe("awaiting_routers");
  });

  test("with no live router the agent's word is enough", () => {
    expect(judge([])).toBe("proven");
    expect(judge([router("r1", null, silent)])).toBe("proven");
  });
});

function aShardOf(replica: Replica): Shard {
  const [shard] = replica.shards;
  if (shard === undefined) throw new Error("a serving replica has a shard");
  return shard;
}
