import type { Drain } from "../cluster/drain.ts";
import { returnsAfterWord } from "../cluster/liveness.ts";
import type { Model } from "../cluster/model.ts";
import type { Node } from "../cluster/node.ts";
import type { Replica, ReplicaPhase } from "../cluster/replica.ts";
import type { Shard, ShardExit, ShardObservation } from "../cluster/shard.ts";
import { type ControlSettings, defaultControlSettings } from "../cluster/snapshot.ts";
import type { Action } from "../reconcile/action.ts";
import { desiredForNode } from "../reconcile/desired-for-node.ts";
import { endpointTable } from "../reconcile/endpoint-table.ts";
import { plan } from "../reconcile/plan.ts";
import { revised, rolledBack } from "../reconcile/revise.ts";
import { aDrain } from "./a-drain.ts";
import { aSpec, type SpecOverrides } from "./a-model.ts";
import { aCordon } from "./a-node.ts";
import { anObservation } from "./a-replica.ts";
import { anEndpointReport, aRouter } from "./a-router.ts";
import { testNowMs } from "./instant.ts";
import { Store } from "./simulation/store.ts";

export interface ScenarioOptions {
  readonly nodes: readonly Node[];
  readonly models: readonly Model[];
  /** Names of the routers; none by default is one, `r1`. */
  readonly routers?: readonly string[];
  readonly settings?: Partial<ControlSettings>;
}

/**
 * A cluster for one test: agents and routers do what they are told at every `tick`, unless the test says otherwise
 * through the fields below. Engines are ready, and gone, one tick after they were told.
 */
export class Scenario {
  readonly store: Store;
  /** Replicas whose engines go on loading. */
  readonly loading = new Set<string>();
  /** Nodes whose engines crash at start. */
  readonly crashing = new Map<string, Partial<ShardExit>>();
  /** Shards that ended by themselves, by `replica/generation`. */
  readonly exits = new Map<string, Partial<ShardExit>>();
  /** Node ids whose agent is not heard. */
  readonly silentNodes = new Set<string>();
  /** Router names that are not heard. */
  readonly silentRouters = new Set<string>();
  /** Router names that do not reach any engine. */
  readonly blindRouters = new Set<string>();
  /** Requests in flight, by router name and replica id. */
  readonly inflight = new Map<string, number>();
  /** What an engine itself counts, by replica id; null: it cannot be read. Default: idle. */
  readonly engineRunning = new Map<string, number | null>();
  /** Replicas whose processes do not end when told. */
  readonly undying = new Set<string>();
  /** Where engines answer, by replica, other than at first. */
  readonly urls = new Map<string, string>();
  /** Those of them that their agent has given up on. */
  readonly stuck = new Set<string>();
  readonly #routers: readonly string[];
  readonly #gone = new Map<string, Set<string>>();
  #suffixes = 0;

  constructor({ nodes, models, routers = ["r1"], settings = {} }: ScenarioOptions) {
    this.store = new Store({ ...defaultControlSettings, ...settings }, testNowMs);
    this.store.controlSinceMs = testNowMs - 3_600_000;
    for (const node of nodes) this.store.nodes.set(node.id, node);
    for (const model of models) this.store.models.set(model.id, model);
    this.#routers = routers;
  }

  /** Time passes; agents and routers report and obey; one pass of the loop runs and is committed. Returns its plan. */
  tick(afterMs = 1_000): readonly Action[] {
    this.store.nowMs += afterMs;
    for (const node of this.store.nodes.values()) if (!this.silentNodes.has(node.id)) this.#agentReports(node);
    for (const name of this.#routers) if (!this.silentRouters.has(name)) this.#routerReports(name);
    return this.pass();
  }

  ticks(count: number, afterMs = 1_000): void {
    for (let done = 0; done < count; done += 1) this.tick(afterMs);
  }

  /** Ticks until the condition holds; throws with the state of all replicas when it does not within 200 ticks. */
  tickUntil(condition: () => boolean): void {
    for (let count = 0; count < 200; count += 1) {
      if (condition()) return;
      this.tick();
    }
    throw new Error(`it did not come about; replicas: ${this.phases().join(", ")}`);
  }

  /** One pass with what is known, without new reports. `between` changes the world after the plan. */
  pass(between?: () => void): readonly Action[] {
    const actions = this.plan();
    this.#suffixes += actions.filter((action) => action.kind === "create_replica").length;
    between?.();
    for (const action of actions) this.store.commit(action);
    return actions;
  }

  /** What a pass would decide, without committing it. */
  plan(): readonly Action[] {
    let next = this.#suffixes;
    const replicaSuffix = (): string => {
      next += 1;
      return `r${next}`;
    };
    return plan({ snapshot: this.store.snapshot(), settings: this.store.settings, ids: { replicaSuffix } });
  }

  drain(nodeId: string, overrides: Partial<Drain> = {}): Drain {
    const { nowMs } = this.store;
    const drain = aDrain({ nodeId, startedAtMs: nowMs, deadlineAtMs: nowMs + 3_600_000, ...overrides });
    this.store.drains.set(drain.id, drain);
    const node = this.node(nodeId);
    const { gpuUuid } = drain;
    const cordon = aCordon({ nodeId, gpuUuid, owner: "drain", drainId: drain.id, sinceMs: nowMs });
    if (drain.replica === null) this.store.nodes.set(nodeId, { ...node, cordons: [cordon] });
    this.store.bump();
    return drain;
  }

  uncordon(nodeId: string): void {
    for (const drain of this.store.drains.values()) {
      if (drain.nodeId !== nodeId || drain.endedAtMs !== null) continue;
      this.store.drains.set(drain.id, { ...drain, endedAtMs: this.store.nowMs, result: "cancelled" });
    }
    this.store.nodes.set(nodeId, { ...this.node(nodeId), cordons: [] });
    this.store.bump();
  }

  scale(modelId: string, replicas: number): void {
    const model = this.store.models.get(modelId);
    if (model === undefined) throw new Error(`no model ${modelId}`);
    this.store.models.set(modelId, { ...model, spec: { ...model.spec, replicas } });
    this.store.bump();
  }

  /** Another revision of the model, as an operator applies it. */
  roll(modelId: string, spec: SpecOverrides, acceptGap = false): void {
    const model = this.store.models.get(modelId);
    if (model === undefined) throw new Error(`no model ${modelId}`);
    const next = aSpec({ ...model.spec, ...spec, id: modelId });
    this.store.models.set(modelId, revised(model, next, { nowMs: this.store.nowMs, by: "op1", acceptGap }));
    this.store.bump();
  }

  /** Back to the revision that the rollout came from. */
  undo(modelId: string): void {
    const model = this.store.models.get(modelId);
    if (model === undefined) throw new Error(`no model ${modelId}`);
    const back = rolledBack(model, null, { nowMs: this.store.nowMs, by: "op1", acceptGap: false });
    if (back === null) throw new Error(`${modelId} has nothing to go back to`);
    this.store.models.set(modelId, back);
    this.store.bump();
  }

  node(nodeId: string): Node {
    const node = this.store.nodes.get(nodeId);
    if (node === undefined) throw new Error(`no node ${nodeId}`);
    return node;
  }

  openOrEnded(drainId: string): Drain {
    const drain = this.store.drains.get(drainId);
    if (drain === undefined) throw new Error(`no drain ${drainId}`);
    return drain;
  }

  replica(id: string): Replica {
    const replica = this.store.replicas.get(id);
    if (replica === undefined) throw new Error(`no replica ${id}`);
    return replica;
  }

  /** Replicas in one of these phases, by id. */
  inPhase(...phases: readonly ReplicaPhase[]): readonly Replica[] {
    return [...this.store.replicas.values()].filter((replica) => phases.includes(replica.phase));
  }

  /** The node that a replica's head was last placed on. */
  homeOf(id: string): string | undefined {
    const { shards, generation } = this.replica(id);
    return shards.find((shard) => shard.generation === generation)?.nodeId;
  }

  phases(): readonly string[] {
    return [...this.store.replicas.values()].map((replica) => `${replica.id} ${replica.phase}`);
  }

  #agentReports(node: Node): void {
    const { run, stop } = desiredForNode(this.store.snapshot(), node.id);
    const gone = this.#goneOn(node.id);
    const observations: ShardObservation[] = run.map(({ shard, quietSinceVersion }) =>
      this.#observe(shard, quietSinceVersion),
    );
    for (const key of stop) {
      const { replicaId } = key;
      const id = keyOf(key);
      const shard = { ...key, gpuUuids: [] as readonly string[] };
      const isGone = gone.has(id) && !this.undying.has(replicaId);
      gone.add(id);
      observations.push(
        seen(
          shard,
          isGone
            ? { phase: "exited", exit: exitOf({ asked: true }) }
            : { phase: this.stuck.has(replicaId) ? "stuck" : "stopping" },
        ),
      );
    }
    // What is in neither list runs on.
    const named = new Set([...run.map(({ shard }) => shard), ...stop].map(keyOf));
    for (const before of node.observations) {
      if (before.phase !== "exited" && !named.has(keyOf(before))) observations.push(before);
    }
    const { version, nowMs } = this.store;
    const returnsAtMs = returnsAfterWord(node, this.store);
    this.store.nodes.set(node.id, { ...node, lastSeenAtMs: nowMs, returnsAtMs, appliedVersion: version, observations });
  }

  #observe(shard: Shard, quietSinceVersion: number | null): ShardObservation {
    const exit = this.exits.get(`${shard.replicaId}/${shard.generation}`) ?? this.crashing.get(shard.nodeId);
    if (exit !== undefined) return seen(shard, { phase: "exited", exit: exitOf(exit) });
    if (this.loading.has(shard.replicaId)) return seen(shard, { phase: "starting", loadRatio: 0.63 });
    const running = this.engineRunning.get(shard.replicaId) ?? 0;
    const isReadable = this.engineRunning.get(shard.replicaId) !== null;
    const zeroReads = running === 0 && quietSinceVersion !== null ? 2 : 0;
    const activity = { running, waiting: 0, zeroReads, sinceVersion: quietSinceVersion ?? 0 };
    const url = this.urls.get(shard.replicaId);
    const moved = url === undefined ? {} : { url };
    return seen(shard, { phase: "ready", activity: isReadable ? activity : null, ...moved });
  }

  #routerReports(name: string): void {
    const endpoints = endpointTable(this.store.snapshot()).map(({ replicaId, generation }) =>
      anEndpointReport({
        replicaId,
        generation,
        inflight: this.inflight.get(`${name} ${replicaId}`) ?? 0,
        probe: this.blindRouters.has(name) ? "failed" : "ok",
      }),
    );
    const { nowMs, version } = this.store;
    const router = aRouter({ name, lastSeenAtMs: nowMs, appliedVersion: version, endpoints });
    this.store.routers.set(router.id, router);
  }

  #goneOn(nodeId: string): Set<string> {
    const known = this.#gone.get(nodeId) ?? new Set<string>();
    this.#gone.set(nodeId, known);
    return known;
  }
}

/** How an engine ended; a crash unless said otherwise. */
function exitOf(overrides: Partial<ShardExit> = {}): ShardExit {
  const category = overrides.asked === true ? "stopped" : "crash";
  const base = { code: 1, signal: null, category, cause: "CUDA error", hint: null, tail: [], asked: false, ranMs: 900 };
  return { ...base, category, ...overrides };
}

function keyOf({ replicaId, generation, rank }: Pick<Shard, "replicaId" | "generation" | "rank">): string {
  return `${replicaId}/${generation}/${rank}`;
}

function seen(
  shard: Pick<Shard, "replicaId" | "generation" | "rank" | "gpuUuids">,
  overrides: Partial<ShardObservation>,
): ShardObservation {
  const base = { nodeId: "", memoryMibPerGpu: 0, shareGpu: false, stopRequestedAtMs: null, releasedAtMs: null };
  const url = overrides.phase === "exited" ? null : `http://${shard.replicaId}`;
  return anObservation({ ...base, ...shard }, { url, activity: null, ...overrides });
}
