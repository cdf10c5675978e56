import { returnsAfterWord } from "../../cluster/liveness.ts";
import type { ShardExit, ShardObservation } from "../../cluster/shard.ts";
import { desiredForNode } from "../../reconcile/desired-for-node.ts";
import { engineKey, isReady, type SimEngine } from "./engine.ts";
import type { World } from "./world.ts";

/** An agent and its machine. It starts what it is told, stops what it is told, and says what it sees. */
export class SimAgent {
  readonly nodeId: string;
  readonly engines = new Map<string, SimEngine>();
  /** The agent process is up. Engines live on without it. */
  alive = true;
  /** It reaches the control plane. */
  linked = true;
  appliedVersion = 0;
  /** How engines ended, until the control plane has taken notice. It is kept on disk. */
  readonly #exits = new Map<string, ShardExit>();
  readonly #idle = new Map<string, { readonly sinceVersion: number; zeroReads: number }>();

  constructor(nodeId: string) {
    this.nodeId = nodeId;
  }

  /** The machine's own time: engines die, stops complete, idle engines are counted. */
  tick(world: World): void {
    for (const engine of this.engines.values()) {
      engine.requests = engine.requests.filter((request) => request.endsAtMs > world.nowMs);
      if (engine.goneAtMs !== null && world.nowMs >= engine.goneAtMs) this.#end(engine, exitOf("stopped", true));
      else if (world.nowMs >= engine.diesAtMs) this.#end(engine, exitOf("crash", false));
      else {
        const idle = this.#idle.get(engine.key);
        if (idle !== undefined) idle.zeroReads = engine.requests.length === 0 ? idle.zeroReads + 1 : 0;
      }
    }
  }

  sync(world: World): void {
    const node = world.store.nodes.get(this.nodeId);
    if (node === undefined) return;
    const observations = this.#observe(world);
    world.store.nodes.set(this.nodeId, {
      ...node,
      lastSeenAtMs: world.nowMs,
      returnsAtMs: returnsAfterWord(node, world.store),
      appliedVersion: this.appliedVersion,
      observations,
    });
    if (world.store.version <= this.appliedVersion) return;
    const desired = desiredForNode(world.store.snapshot(), this.nodeId);
    const named = new Set<string>();
    for (const { replica, shard, quietSinceVersion } of desired.run) {
      const key = engineKey(shard.replicaId, shard.generation, shard.rank);
      named.add(key);
      if (!this.engines.has(key) && !this.#exits.has(key)) {
        this.engines.set(key, world.startEngine(shard, replica.modelId));
      }
      if (quietSinceVersion === null) this.#idle.delete(key);
      else if (this.#idle.get(key)?.sinceVersion !== quietSinceVersion) {
        this.#idle.set(key, { sinceVersion: quietSinceVersion, zeroReads: 0 });
      }
    }
    for (const { replicaId, generation, rank } of desired.stop) {
      const key = engineKey(replicaId, generation, rank);
      named.add(key);
      const engine = this.engines.get(key);
      if (engine === undefined) {
        if (!this.#exits.has(key)) this.#exits.set(key, exitOf("stopped", true));
      } else if (engine.goneAtMs === null) {
        world.noteStop(engine);
        engine.goneAtMs = world.nowMs + world.random.between(200, 3_000);
      }
    }
    for (const seen of observations) {
      const key = engineKey(seen.replicaId, seen.generation, seen.rank);
      if (seen.phase === "exited" && !named.has(key)) this.#exits.delete(key);
    }
    this.appliedVersion = world.store.version;
  }

  /** Its process ends; engines, and what it wrote down, stay. */
  kill(): void {
    this.alive = false;
    this.appliedVersion = 0;
    this.#idle.clear();
  }

  /** The agent ends together with its engines, as a supervised one does. */
  stopWithEngines(): void {
    for (const engine of [...this.engines.values()]) this.#end(engine, exitOf("stopped", true));
    this.kill();
  }

  /** The machine loses power: every process is gone. With `forgets` its disk is gone too. */
  powerOff(forgets: boolean): void {
    for (const engine of [...this.engines.values()]) this.#end(engine, exitOf("killed", false));
    if (forgets) this.#exits.clear();
    this.kill();
  }

  #end(engine: SimEngine, exit: ShardExit): void {
    this.engines.delete(engine.key);
    this.#idle.delete(engine.key);
    engine.requests = [];
    this.#exits.set(engine.key, exit);
  }

  #observe(world: World): readonly ShardObservation[] {
    const running = [...this.engines.values()].map((engine): ShardObservation => {
      const idle = this.#idle.get(engine.key);
      const ready = isReady(engine, world.nowMs);
      return {
        ...observed(engine),
        phase: engine.goneAtMs !== null ? "stopping" : ready ? "ready" : "starting",
        pid: 1,
        url: `http://${engine.nodeId}/${engine.key}`,
        gpuUuids: engine.gpuUuids,
        activity: {
          running: engine.requests.length,
          waiting: 0,
          zeroReads: idle?.zeroReads ?? 0,
          sinceVersion: idle?.sinceVersion ?? 0,
        },
        exit: null,
      };
    });
    const ended = [...this.#exits].map(([key, exit]): ShardObservation => {
      const [replicaId = "", generation = "", rank = ""] = key.split("/");
      const id = { replicaId, generation: Number(generation), rank: Number(rank) };
      return { ...observed(id), phase: "exited", pid: null, url: null, gpuUuids: [], activity: null, exit };
    });
    return [...running, ...ended];
  }
}

function observed(id: { readonly replicaId: string; readonly generation: number; readonly rank: number }) {
  const { replicaId, generation, rank } = id;
  return { replicaId, generation, rank, loadRatio: null, loadMessage: null, startedAgoMs: null };
}

function exitOf(category: ShardExit["category"], asked: boolean): ShardExit {
  const code = asked ? 0 : 1;
  return { code, signal: null, category, cause: `ended: ${category}`, hint: null, tail: [], asked, ranMs: 1_000 };
}
