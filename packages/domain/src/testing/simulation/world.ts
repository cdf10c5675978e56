import type { Shard } from "../../cluster/shard.ts";
import type { ControlSettings } from "../../cluster/snapshot.ts";
import type { Action } from "../../reconcile/action.ts";
import type { TableEndpoint } from "../../reconcile/endpoint-table.ts";
import { plan } from "../../reconcile/plan.ts";
import { aModel } from "../a-model.ts";
import { aNode } from "../a-node.ts";
import { testNowMs } from "../instant.ts";
import { SimAgent } from "./agent.ts";
import { engineKey, type SimEngine } from "./engine.ts";
import type { Random } from "./random.ts";
import { SimRouter } from "./router.ts";
import { Store } from "./store.ts";

/** The durations of a simulated cluster: those of a real one, a few times shorter. */
const simulationSettings: ControlSettings = {
  suspectAfterMs: 3_000,
  lostAfterMs: 8_000,
  routerLeaseMs: 5_000,
  routerMayStillSendMs: 60_000,
  routerRememberedMs: 600_000,
  provenMs: 2_000,
  engineDisagreesMs: 6_000,
  defaultGraceMs: 60_000,
  backoffBaseMs: 1_000,
  backoffMaxMs: 8_000,
  backoffReservesMs: 4_000,
  replaceAfterFailures: 3,
  failureWindowMs: 30_000,
  failuresForgottenMs: 60_000,
  massSilenceRatio: 0.55,
  massSilenceMinNodes: 3,
  massSilenceWindowMs: 8_000,
  flapReturns: 3,
  flapWindowMs: 60_000,
  flapStableMs: 8_000,
  blackHoleStarts: 3,
  blackHoleModels: 2,
  blackHoleCordonMs: 60_000,
  rolloutFailures: 3,
  rolloutStallMs: 60_000,
  stuckAfterMs: 30_000,
  reserveMibPerGpu: 512,
};

/** Virtual time of one step, ms. */
export const stepMs = 500;

/** A chain of decisions that needs more passes than this goes in a circle. */
const mostPasses = 4;

/** A promise of the control plane that a run broke. */
export class Violation extends Error {}

/** Looks at every action before and after its commit; throws where a promise of the control plane is broken. */
export interface Watcher {
  /** `raced`: something changes between this plan and its commits. */
  planned(world: World, actions: readonly Action[], raced: boolean): void;
  committing(world: World, action: Action): void;
  committed(world: World, action: Action, refusal: string | null): void;
  stopping(world: World, engine: SimEngine, decidedAtMs: number): void;
}

/** A whole cluster in virtual time: machines, agents, engines, routers, and a control plane that runs the real `plan`. */
export class World {
  readonly store = new Store(simulationSettings, testNowMs);
  readonly agents: readonly SimAgent[];
  readonly routers: readonly SimRouter[];
  readonly random: Random;
  readonly longestRequestMs = 20_000;
  /** (model, node) pairs on which starts fail, until when. */
  readonly broken = new Map<string, number>();
  /** Some admin answers syncs; the loop is a part of it. */
  controlPlaneUp = true;
  loopPausedUntilMs = 0;
  nowMs = testNowMs;
  readonly log: string[] = [];
  readonly #stopDecidedAtMs = new Map<string, number>();
  readonly #watcher: Watcher;
  #ids = 0;

  constructor(random: Random, watcher: Watcher) {
    this.random = random;
    this.#watcher = watcher;
    const names = ["a", "b", "c", "d", "e"].slice(0, random.between(2, 5));
    for (const name of names) {
      const node = aNode({ name, gpus: random.between(1, 3), lastSeenAtMs: null, registeredAtMs: testNowMs });
      this.store.nodes.set(node.id, node);
    }
    for (const id of ["m", "n", "o"].slice(0, random.between(1, 3))) {
      const tp = random.chance(0.25) ? 2 : 1;
      const maxSurge = random.chance(0.2) ? 2 : 1;
      const spec = { replicas: random.between(1, 3), resources: { tp }, update: { maxSurge } };
      this.store.models.set(id, aModel({ id, spec, createdAtMs: testNowMs }));
    }
    this.agents = [...this.store.nodes.keys()].map((id) => new SimAgent(id));
    this.routers = Array.from({ length: random.between(0, 3) }, (_, index) => new SimRouter(`router${index}`));
  }

  say(text: string): void {
    this.log.push(`${((this.nowMs - testNowMs) / 1000).toFixed(1)}s ${text}`);
  }

  /** One step of virtual time: machines and routers first, then syncs, then the control loop. */
  step(): void {
    this.nowMs += stepMs;
    this.store.nowMs = this.nowMs;
    for (const agent of this.agents) agent.tick(this);
    for (const router of this.routers) if (router.alive) router.tick(this);
    if (!this.controlPlaneUp) return;
    // Polls come when they come: each process is heard at most of the steps, not at all of them.
    for (const agent of this.agents) if (agent.alive && agent.linked && this.random.chance(0.8)) agent.sync(this);
    for (const router of this.routers) {
      if (router.alive && router.linked && this.random.chance(0.6)) router.sync(this);
    }
    if (this.nowMs >= this.loopPausedUntilMs) this.#settle();
  }

  /**
   * One pass of the loop; returns how many actions it decided. `between` runs after the plan and before its commits: a
   * change that the plan has not seen.
   */
  reconcile(between?: () => void): number {
    const snapshot = this.store.snapshot();
    const firstId = this.#ids;
    const actions = plan({ snapshot, settings: this.store.settings, ids: { replicaSuffix: () => this.#suffix() } });
    const nextId = this.#ids;
    this.#ids = firstId;
    this.#watcher.planned(this, actions, between !== undefined);
    this.#ids = nextId;
    between?.();
    for (const action of actions) {
      this.#watcher.committing(this, action);
      const refusal = this.store.commit(action);
      this.say(`${refusal === null ? "" : `REFUSED (${refusal}) `}${describe(action)}`);
      if (refusal === null && action.kind === "stop_shard") {
        const key = engineKey(action.replicaId, action.generation, action.rank);
        this.#stopDecidedAtMs.set(key, this.nowMs);
      }
      this.#watcher.committed(this, action, refusal);
    }
    return actions.length;
  }

  /** Passes without a wait until one decides nothing, as the real loop does. */
  #settle(): void {
    for (let passes = 0; passes < mostPasses; passes += 1) if (this.reconcile() === 0) return;
    throw new Violation(`the plan does not settle: ${this.log.slice(-6).join("; ")}`);
  }

  /** What a pass would decide now, without deciding it. */
  wouldDo(): readonly Action[] {
    let next = this.#ids;
    const ids = { replicaSuffix: () => suffixOf(next++) };
    return plan({ snapshot: this.store.snapshot(), settings: this.store.settings, ids });
  }

  startEngine(shard: Shard, modelId: string): SimEngine {
    const isBroken = (this.broken.get(`${modelId} ${shard.nodeId}`) ?? 0) > this.nowMs;
    const engine: SimEngine = {
      key: engineKey(shard.replicaId, shard.generation, shard.rank),
      replicaId: shard.replicaId,
      generation: shard.generation,
      rank: shard.rank,
      modelId,
      nodeId: shard.nodeId,
      gpuUuids: shard.gpuUuids,
      startedAtMs: this.nowMs,
      readyAtMs: this.nowMs + this.random.between(500, 6_000),
      diesAtMs: isBroken ? this.nowMs + this.random.between(200, 1_500) : Number.POSITIVE_INFINITY,
      goneAtMs: null,
      requests: [],
    };
    this.say(`engine ${engine.key} starts on ${shard.nodeId}${isBroken ? " (will crash)" : ""}`);
    return engine;
  }

  engineOf({ url }: Pick<TableEndpoint, "url">): SimEngine | null {
    const [nodeId = "", ...key] = url.replace("http://", "").split("/");
    return this.agents.find((agent) => agent.nodeId === nodeId)?.engines.get(key.join("/")) ?? null;
  }

  /** An agent is about to signal an engine because an answer told it to. */
  noteStop(engine: SimEngine): void {
    this.say(`engine ${engine.key} is signalled, ${engine.requests.length} in flight`);
    this.#watcher.stopping(this, engine, this.#stopDecidedAtMs.get(engine.key) ?? this.nowMs);
  }

  #suffix(): string {
    return suffixOf(this.#ids++);
  }
}

function suffixOf(index: number): string {
  const letters = "abcdefghijklmnopqrstuvwxyz234567";
  let rest = index;
  let suffix = "";
  for (let position = 0; position < 5; position += 1) {
    suffix = `${letters[rest % 32] ?? ""}${suffix}`;
    rest = Math.floor(rest / 32);
  }
  return suffix;
}

function describe(action: Action): string {
  switch (action.kind) {
    case "set_phase":
      return `${action.replicaId}.${action.generation} ${action.from} → ${action.to} (${action.reason?.code ?? "-"})`;
    case "create_replica":
      return `create ${action.replicaId} replaces ${action.replaces ?? "-"}`;
    case "place_replica":
      return `place ${action.replicaId}.${action.fromGeneration + 1} on ${action.shards.map((shard) => `${shard.nodeId} ${shard.gpuUuids.join("+")}`).join()}`;
    case "set_proof":
      return `proof of ${action.replicaId}: proven ${action.provenSinceMs !== null}, quiet ${action.routersQuietSinceMs !== null}`;
    case "explain_pending":
      return `explain ${action.replicaId}: ${action.reason.code}`;
    case "set_move":
      return `move ${action.replicaId}: ${action.step} (${action.reason?.code ?? "-"})${action.lost ? " lost" : ""}`;
    case "end_drain":
      return `end ${action.drainId}: ${action.result}`;
    case "set_cordon":
      return `cordon ${action.nodeId}: ${action.reason.code}`;
    case "lift_cordon":
      return `lift the cordon of ${action.nodeId} by ${action.owner}`;
    case "set_rollout":
      return `rollout of ${action.modelId} to ${action.revision}: ${action.failure?.code ?? "complete"}`;
    default:
      return `${action.kind} ${action.replicaId}.${action.generation}`;
  }
}
