import { place } from "../../placement/place.ts";
import type { Action } from "../../reconcile/action.ts";
import { openDraft } from "../../reconcile/draft.ts";
import { countActive, countServing } from "../../reconcile/leaving.ts";
import { reservedShards } from "../../reconcile/place-replica.ts";
import { surgeInForce } from "../../reconcile/surge.ts";
import type { SimEngine } from "./engine.ts";
import { Violation, type Watcher, type World } from "./world.ts";

/** A drain may outlast its deadline by what is in flight, by routers that may still send, and by the stop itself. */
const drainOverrunMs = 150_000;

/** Every so many passes it is checked that planning twice gives the same. */
const passesPerRepeat = 8;

interface Counts {
  readonly serving: number;
  readonly active: number;
}

/** Checks the promises around every commit of a run. */
export function watchInvariants(): Watcher {
  let before: Counts = { serving: 0, active: 0 };
  let raced = false;
  let passes = 0;
  return {
    planned(world, actions, isRace) {
      raced = isRace;
      passes += 1;
      if (passes % passesPerRepeat === 0) checkRepeatable(world, actions);
      checkDrainsEnd(world);
    },
    committing(world, action) {
      before = countsFor(world, action);
    },
    committed(world, action, refusal) {
      if (refusal !== null) {
        if (!raced) throw new Violation(`the plan's own ${action.kind} was refused: ${refusal}`);
        return;
      }
      checkSurge(world, action, before);
      checkFloor(world, action, before);
      checkGpus(world, action);
    },
    stopping: checkCut,
  };
}

/** Once nothing goes wrong any more: what is left that should not be; null when the cluster has come to rest. */
export function unrest(world: World): string | null {
  const open = [...world.store.drains.values()].find((drain) => drain.endedAtMs === null);
  if (open !== undefined) return `${open.id} is still open`;
  const todo = world.wouldDo();
  if (todo.length > 0) return `the plan still wants to ${todo.map((action) => action.kind).join(", ")}`;
  for (const model of world.store.models.values()) {
    const reason = modelUnrest(world, model.id);
    if (reason !== null) return reason;
  }
  return processUnrest(world);
}

function modelUnrest(world: World, modelId: string): string | null {
  const model = world.store.models.get(modelId);
  const replicas = replicasOf(world, modelId);
  const desired = model === undefined || model.deletedAtMs !== null ? 0 : model.spec.replicas;
  if (replicas.length !== desired) return `${modelId} has ${replicas.length} replicas, wants ${desired}`;
  for (const replica of replicas) {
    if (replica.phase === "serving" && replica.provenSinceMs !== null) continue;
    if (replica.phase !== "pending" || model === undefined) return `${replica.id} is ${replica.phase}`;
    const { store } = world;
    const snapshot = store.snapshot();
    const assume = { placed: reservedShards(openDraft(snapshot, store.settings), replica.id) };
    const record = place({ model, replicaId: replica.id, snapshot, settings: store.settings, assume });
    if (record.outcome.kind === "placed") return `${replica.id} is pending although it fits`;
  }
  return null;
}

/** Processes and unreleased shards are the same set. */
function processUnrest(world: World): string | null {
  const held = new Set<string>();
  for (const replica of world.store.replicas.values()) {
    for (const shard of replica.shards) {
      if (shard.releasedAtMs === null) held.add(`${shard.nodeId} ${replica.id}/${shard.generation}/${shard.rank}`);
    }
  }
  const running = new Set(
    world.agents.flatMap((agent) => [...agent.engines.keys()].map((key) => `${agent.nodeId} ${key}`)),
  );
  for (const key of held) if (!running.has(key)) return `${key} holds GPUs and does not run`;
  for (const key of running) if (!held.has(key)) return `${key} runs and holds no GPU`;
  return null;
}

/** Starting + serving + moving stay within desired + the surge in force: nothing that we do takes them above it. */
function checkSurge(world: World, action: Action, before: Counts): void {
  const model = modelOf(world, action);
  if (model === undefined) return;
  const replicas = replicasOf(world, model.id);
  const active = countActive(replicas);
  if (active <= before.active || active <= model.spec.replicas + model.spec.update.maxSurge) return;
  const { store } = world;
  const allowed = model.spec.replicas + surgeInForce(openDraft(store.snapshot(), store.settings), model);
  if (active > allowed) {
    throw new Violation(`${model.id} has ${active} active replicas, ${allowed} are allowed`);
  }
}

/** No planned step takes serving + moving below min(desired, what it was), except at a deadline or by force. */
function checkFloor(world: World, action: Action, before: Counts): void {
  if (action.kind !== "set_phase" || action.to !== "draining") return;
  if (action.reason?.code === "stopped_at_deadline" || action.reason?.code === "stopped_by_force") return;
  const model = modelOf(world, action);
  if (model === undefined || model.deletedAtMs !== null) return;
  checkProven(world, action);
  const serving = countServing(replicasOf(world, model.id));
  const floor = Math.min(model.spec.replicas, before.serving);
  if (serving < floor) throw new Violation(`${model.id} fell to ${serving} serving, ${floor} is its floor`);
}

/** An original that hands over has a replacement that served for long enough. */
function checkProven(world: World, action: Extract<Action, { kind: "set_phase" }>): void {
  if (action.reason?.code !== "drained_away") return;
  const replacement = [...world.store.replicas.values()].find((replica) => replica.replaces === action.replicaId);
  if (replacement?.phase !== "serving") return;
  const provenMs = replacement.provenSinceMs === null ? -1 : world.nowMs - replacement.provenSinceMs;
  if (provenMs < world.store.settings.provenMs) {
    throw new Violation(`${action.replicaId} goes, its replacement ${replacement.id} has served for ${provenMs} ms`);
  }
}

/** No GPU belongs to two shards, and none was given to a node that takes nothing. */
function checkGpus(world: World, action: Action): void {
  if (action.kind !== "place_replica") return;
  const holders = new Map<string, string>();
  for (const replica of world.store.replicas.values()) {
    for (const shard of replica.shards) {
      if (shard.releasedAtMs !== null) continue;
      for (const uuid of shard.gpuUuids) {
        const holder = holders.get(uuid);
        if (holder !== undefined) throw new Violation(`${uuid} is held by ${holder} and ${replica.id}`);
        holders.set(uuid, replica.id);
      }
    }
  }
  for (const { nodeId } of action.shards) {
    const node = world.store.nodes.get(nodeId);
    if (node === undefined || node.cordons.length > 0)
      throw new Violation(`${action.replicaId} was placed on ${nodeId}`);
  }
}

function checkDrainsEnd(world: World): void {
  for (const drain of world.store.drains.values()) {
    if (drain.endedAtMs === null && world.nowMs > drain.deadlineAtMs + drainOverrunMs) {
      throw new Violation(`${drain.id} is open ${world.nowMs - drain.deadlineAtMs} ms after its deadline`);
    }
  }
}

function checkRepeatable(world: World, actions: readonly Action[]): void {
  const again = world.wouldDo();
  if (JSON.stringify(again) !== JSON.stringify(actions)) throw new Violation("planning twice gave two plans");
}

/**
 * Our stop cuts no request. A router that could not hear us may have sent one after its engine was seen idle; nobody
 * can know of that one.
 */
function checkCut(world: World, engine: SimEngine, decidedAtMs: number): void {
  for (const request of engine.requests) {
    if (request.fromSilentRouter && request.startedAtMs > decidedAtMs - 2_000) continue;
    const ageMs = world.nowMs - request.startedAtMs;
    throw new Violation(`stopping ${engine.key} cuts a request of ${request.routerId} that is ${ageMs} ms old`);
  }
}

function countsFor(world: World, action: Action): Counts {
  const model = modelOf(world, action);
  const replicas = model === undefined ? [] : replicasOf(world, model.id);
  return { serving: countServing(replicas), active: countActive(replicas) };
}

function replicasOf(world: World, modelId: string) {
  return [...world.store.replicas.values()].filter(
    (replica) => replica.modelId === modelId && replica.phase !== "stopped",
  );
}

function modelOf(world: World, action: Action) {
  if (!("replicaId" in action)) return undefined;
  const modelId = world.store.replicas.get(action.replicaId)?.modelId;
  return modelId === undefined ? undefined : world.store.models.get(modelId);
}
