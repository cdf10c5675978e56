import type { Drain } from "../../cluster/drain.ts";
import { aCordon } from "../a-node.ts";
import type { World } from "./world.ts";

/** Something that goes wrong, or that an operator does. What it breaks it mends by itself some time later. */
export type Happening = (world: World, later: (afterMs: number, then: () => void) => void) => void;

const crashEngine: Happening = (world) => {
  const engines = world.agents.flatMap((agent) => [...agent.engines.values()]);
  if (engines.length === 0) return;
  const engine = world.random.pick(engines);
  world.say(`FAULT engine ${engine.key} crashes`);
  engine.diesAtMs = world.nowMs;
};

const silenceAgent: Happening = (world, later) => {
  const agent = world.random.pick(world.agents);
  if (!agent.linked) return;
  world.say(`FAULT agent of ${agent.nodeId} is cut off`);
  agent.linked = false;
  later(world.random.between(1_000, 25_000), () => {
    world.say(`agent of ${agent.nodeId} is heard again`);
    agent.linked = true;
  });
};

const killAgent: Happening = (world, later) => {
  const agent = world.random.pick(world.agents);
  if (!agent.alive) return;
  world.say(`FAULT agent of ${agent.nodeId} is killed`);
  agent.kill();
  later(world.random.between(500, 12_000), () => {
    agent.alive = true;
  });
};

const stopAgentWithEngines: Happening = (world, later) => {
  const agent = world.random.pick(world.agents);
  if (!agent.alive) return;
  world.say(`FAULT agent of ${agent.nodeId} ends with its engines`);
  agent.stopWithEngines();
  later(world.random.between(500, 12_000), () => {
    agent.alive = true;
  });
};

const powerOff: Happening = (world, later) => {
  const agent = world.random.pick(world.agents);
  if (!agent.alive) return;
  const forgets = world.random.chance(0.3);
  world.say(`FAULT ${agent.nodeId} loses power${forgets ? " and its disk" : ""}`);
  agent.powerOff(forgets);
  later(world.random.chance(0.2) ? 240_000 : world.random.between(5_000, 30_000), () => {
    world.say(`${agent.nodeId} has booted`);
    agent.alive = true;
  });
};

const silenceRouter: Happening = (world, later) => {
  if (world.routers.length === 0) return;
  const router = world.random.pick(world.routers);
  if (!router.linked) return;
  world.say(`FAULT ${router.id} is cut off from the control plane`);
  router.linked = false;
  later(world.random.between(1_000, 25_000), () => {
    router.linked = true;
  });
};

const restartRouter: Happening = (world, later) => {
  if (world.routers.length === 0) return;
  const router = world.random.pick(world.routers);
  if (!router.alive) return;
  world.say(`FAULT ${router.id} dies`);
  router.restart();
  router.alive = false;
  later(world.random.between(500, 15_000), () => {
    router.alive = true;
  });
};

const pauseLoop: Happening = (world) => {
  world.say("FAULT the control loop stands still");
  world.loopPausedUntilMs = world.nowMs + world.random.between(1_000, 10_000);
};

const restartControlPlane: Happening = (world, later) => {
  if (!world.controlPlaneUp) return;
  world.say("FAULT the control plane is down");
  world.controlPlaneUp = false;
  later(world.random.between(1_000, 30_000), () => {
    world.say("the control plane is back");
    world.controlPlaneUp = true;
    world.store.controlSinceMs = world.nowMs;
  });
};

const breakStarts: Happening = (world) => {
  const model = world.random.pick([...world.store.models.keys()]);
  const agent = world.random.pick(world.agents);
  world.say(`FAULT starts of ${model} fail on ${agent.nodeId}`);
  world.broken.set(`${model} ${agent.nodeId}`, world.nowMs + world.random.between(5_000, 40_000));
};

const drainNode: Happening = (world) => {
  const nodeId = world.random.pick([...world.store.nodes.keys()]);
  const node = world.store.nodes.get(nodeId);
  if (node === undefined || openDrainOf(world, nodeId) !== null) return;
  const id = `drain_${world.store.drains.size + 1}`;
  const graceMs = world.random.chance(0.1) ? 0 : world.random.between(5_000, 60_000);
  world.say(`OPERATOR drains ${nodeId}, grace ${graceMs} ms`);
  world.store.drains.set(id, {
    id,
    nodeId,
    gpuUuid: null,
    replica: null,
    by: "op1",
    reason: "simulated",
    startedAtMs: world.nowMs,
    deadlineAtMs: world.nowMs + graceMs,
    forcedAtMs: null,
    forcedBy: null,
    endedAtMs: null,
    result: null,
    losses: [],
  });
  const cordon = aCordon({ id: `cordon_${id}`, nodeId, owner: "drain", drainId: id, sinceMs: world.nowMs });
  world.store.nodes.set(nodeId, { ...node, cordons: [...node.cordons, cordon] });
  world.store.bump();
};

const forceDrain: Happening = (world) => {
  const open = [...world.store.drains.values()].filter((drain) => drain.endedAtMs === null);
  if (open.length === 0) return;
  const drain = world.random.pick(open);
  world.say(`OPERATOR forces the drain of ${drain.nodeId}`);
  world.store.drains.set(drain.id, { ...drain, forcedAtMs: world.nowMs, forcedBy: "op1" });
};

const uncordonNode: Happening = (world) => {
  const cordoned = [...world.store.nodes.values()].filter((node) => node.cordons.length > 0);
  if (cordoned.length === 0) return;
  const node = world.random.pick(cordoned);
  world.say(`OPERATOR uncordons ${node.id}`);
  const drain = openDrainOf(world, node.id);
  if (drain !== null) {
    world.store.drains.set(drain.id, { ...drain, endedAtMs: world.nowMs, result: "cancelled" });
  }
  world.store.nodes.set(node.id, { ...node, cordons: [] });
  world.store.bump();
};

const scaleModel: Happening = (world) => {
  const model = world.random.pick([...world.store.models.values()]);
  const replicas = world.random.between(0, 3);
  world.say(`OPERATOR scales ${model.id} to ${replicas}`);
  world.store.models.set(model.id, { ...model, spec: { ...model.spec, replicas } });
  world.store.bump();
};

const deleteModel: Happening = (world) => {
  const model = world.random.pick([...world.store.models.values()]);
  if (world.store.models.size === 1) return;
  world.say(`OPERATOR deletes ${model.id}`);
  world.store.models.set(model.id, { ...model, deletedAtMs: world.nowMs });
  world.store.bump();
};

/** A drain that starts between a plan and its commit. */
const raceDrain: Happening = (world, later) => {
  if (world.controlPlaneUp && world.nowMs >= world.loopPausedUntilMs) world.reconcile(() => drainNode(world, later));
};

/** What may happen, with how often it does relative to the others. */
export const happenings: readonly (readonly [weight: number, happening: Happening])[] = [
  [4, crashEngine],
  [3, silenceAgent],
  [3, killAgent],
  [1, stopAgentWithEngines],
  [1, powerOff],
  [3, silenceRouter],
  [2, restartRouter],
  [2, pauseLoop],
  [1, restartControlPlane],
  [2, breakStarts],
  [8, drainNode],
  [1, forceDrain],
  [5, uncordonNode],
  [2, scaleModel],
  [0.3, deleteModel],
  [2, raceDrain],
];

function openDrainOf(world: World, nodeId: string): Drain | null {
  for (const drain of world.store.drains.values()) {
    if (drain.nodeId === nodeId && drain.endedAtMs === null) return drain;
  }
  return null;
}
