import type { AgentSyncAnswer, AgentSyncRequest, RouterSyncAnswer, RouterSyncRequest } from "@llmgw/wire";
import type { TestAdmin } from "./test-admin.ts";

/** Calls a mutation over plain HTTP. Answers its data, or throws its error's message. */
export async function post<T>(
  url: string,
  call: { readonly path: string; readonly token: string; readonly body: unknown; readonly signal?: AbortSignal },
): Promise<T> {
  const response = await fetch(`${url}/api/trpc/${call.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${call.token}`, "content-type": "application/json" },
    body: JSON.stringify(call.body),
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  });
  const json = (await response.json()) as { result?: { data: T }; error?: { message: string } };
  if (json.result === undefined) throw new Error(json.error?.message ?? `HTTP ${response.status}`);
  return json.result.data;
}

type Shard = AgentSyncRequest["report"]["shards"][number];

/** A simulated node: joins, polls, and runs what it is told, each engine ready at once and idle. */
export class ScriptedAgent {
  readonly #admin: TestAdmin;
  readonly #name: string;
  readonly #gpus: number;
  readonly machineId: string;
  bootId = "boot-1";
  session = `session-${Math.random()}`;
  credential = "";
  nodeId = "";
  appliedVersion = 0;
  clusterId: string | null = null;
  shards = new Map<string, Shard>();
  readonly answers: AgentSyncAnswer[] = [];

  constructor(admin: TestAdmin, name: string, options: { readonly gpus?: number; readonly machineId?: string } = {}) {
    this.#admin = admin;
    this.#name = name;
    this.#gpus = options.gpus ?? 1;
    this.machineId = options.machineId ?? `machine-${name}`;
  }

  async join(): Promise<this> {
    const joined = await post<{ nodeId: string; credential: string; clusterId: string }>(this.#admin.url, {
      path: "agents.join",
      token: this.#admin.tokens.join,
      body: { name: this.#name, machineId: this.machineId, bootId: this.bootId, simulated: true },
    });
    this.nodeId = joined.nodeId;
    this.credential = joined.credential;
    this.clusterId = joined.clusterId;
    return this;
  }

  request(): AgentSyncRequest {
    return {
      protocol: 1,
      machineId: this.machineId,
      bootId: this.bootId,
      session: this.session,
      clusterId: this.clusterId,
      appliedVersion: this.appliedVersion,
      report: {
        name: this.#name,
        address: "127.0.0.1",
        agentVersion: "0.0.0",
        simulated: true,
        labels: {},
        engines: [{ name: "sim", version: "0" }],
        sources: {},
        gpus: Array.from({ length: this.#gpus }, (_, index) => ({
          uuid: `SIM-${this.#name}-${index}`,
          index,
          vendor: "nvidia" as const,
          name: "Simulated GPU",
          pciBusId: null,
          totalMib: 24_576,
          usedMib: 0,
          temperatureC: 40,
          utilizationRatio: 0,
          eccUncorrected: 0,
          migMode: "disabled" as const,
          faults: [],
          processes: [],
        })),
        gpuProbeError: null,
        shards: [...this.shards.values()],
        logs: [],
      },
    };
  }

  async sync(signal?: AbortSignal): Promise<AgentSyncAnswer> {
    const body = this.request();
    const call = { path: "agents.sync", token: this.credential, body, ...(signal === undefined ? {} : { signal }) };
    const answer = await post<AgentSyncAnswer>(this.#admin.url, call);
    this.answers.push(answer);
    if (answer.kind === "desired") this.#carryOut(answer, body.report.shards);
    return answer;
  }

  /** Polls until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.sync(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  #carryOut(answer: Extract<AgentSyncAnswer, { kind: "desired" }>, reported: readonly Shard[]): void {
    const keyOf = (one: { replicaId: string; generation: number; rank: number }) =>
      `${one.replicaId}/${one.generation}/${one.rank}`;
    const ordered = new Set([...answer.run, ...answer.stop].map(keyOf));
    for (const shard of reported) {
      if (shard.phase === "exited" && !ordered.has(keyOf(shard))) this.shards.delete(keyOf(shard));
    }
    for (const launch of answer.run) {
      const { replicaId, generation, rank, gpuUuids, quietSinceVersion } = launch;
      const activity =
        quietSinceVersion === null ? null : { running: 0, waiting: 0, zeroReads: 2, sinceVersion: quietSinceVersion };
      this.shards.set(keyOf(launch), {
        ...{ replicaId, generation, rank, gpuUuids, activity },
        phase: "ready",
        pid: 1000 + generation,
        url: `http://127.0.0.1:1/${replicaId}`,
        loadRatio: null,
        loadMessage: null,
        startedAgoMs: 1000,
        exit: null,
      });
    }
    for (const stop of answer.stop) {
      const shard = this.shards.get(keyOf(stop));
      const gone = { pid: null, url: null, activity: null, phase: "exited" as const };
      const base = shard ?? {
        ...{ replicaId: stop.replicaId, generation: stop.generation, rank: stop.rank },
        ...{ gpuUuids: [], loadRatio: null, loadMessage: null, startedAgoMs: null, exit: null },
      };
      this.shards.set(keyOf(stop), { ...base, ...gone });
    }
    this.appliedVersion = answer.version;
  }
}

/** A router that reaches every endpoint of its table and has nothing in flight. */
export class ScriptedRouter {
  readonly #admin: TestAdmin;
  readonly id: string;
  session = `session-${Math.random()}`;
  appliedVersion = 0;
  clusterId: string | null = null;
  table: Extract<RouterSyncAnswer, { kind: "table" }>["table"] | null = null;
  readonly answers: RouterSyncAnswer[] = [];
  /** Replica id → requests in flight. */
  readonly inflight = new Map<string, number>();

  constructor(admin: TestAdmin, id: string) {
    this.#admin = admin;
    this.id = id;
  }

  request(leaving = false): RouterSyncRequest {
    const endpoints = this.table?.models.flatMap((model) => model.endpoints) ?? [];
    return {
      protocol: 1,
      id: this.id,
      session: this.session,
      clusterId: this.clusterId,
      appliedVersion: this.appliedVersion,
      leaving,
      report: {
        name: this.id,
        address: "127.0.0.1",
        version: "0.0.0",
        endpoints: endpoints.map((endpoint) => ({
          replicaId: endpoint.replica,
          generation: endpoint.generation,
          inflight: this.inflight.get(endpoint.replica) ?? 0,
          probe: "ok",
          breaker: "closed",
          completions: 0,
          failures: 0,
          running: null,
          waiting: null,
          kvUsageRatio: null,
          drainRatePerSecond: null,
          stale: false,
        })),
        models: [],
      },
    };
  }

  async sync(signal?: AbortSignal): Promise<RouterSyncAnswer> {
    const answer = await post<RouterSyncAnswer>(this.#admin.url, {
      path: "routers.sync",
      token: this.#admin.tokens.router,
      body: this.request(),
      ...(signal === undefined ? {} : { signal }),
    });
    this.answers.push(answer);
    this.clusterId = answer.clusterId;
    if (answer.kind === "table") {
      this.table = answer.table;
      this.appliedVersion = answer.version;
    }
    return answer;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.sync(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }
}

/** Runs machines in the background until the scope ends; a machine that failed fails the test there. */
export function runMachines(...machines: readonly { run(signal: AbortSignal): Promise<void> }[]): AsyncDisposable {
  const stop = new AbortController();
  const running = Promise.all(machines.map((machine) => machine.run(stop.signal)));
  running.catch(() => undefined); // awaited at the scope's end
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
    },
  };
}

/** Asks again and again until the answer is not null; fails after `timeoutMs`. */
export async function eventually<T>(
  ask: () => Promise<T | null | undefined | false>,
  what: string,
  timeoutMs = 60_000,
): Promise<T> {
  const giveUpAtMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    if (performance.now() > giveUpAtMs) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
