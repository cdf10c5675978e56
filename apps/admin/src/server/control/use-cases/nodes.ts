import type { NodeView } from "@llmgw/api";
import { type Actor, type ControlPlane, done, type Outcome, refused } from "@llmgw/api/server";
import { isConfirmedLost, type Node, nodeAvailability } from "@llmgw/domain";
import { formatDuration } from "@llmgw/service";
import { changeNode, type NodeChange } from "../../db/operator/change-node.ts";
import type { World } from "../../db/world.ts";
import { livenessOf } from "../views/context.ts";
import { nodeView } from "../views/node-view.ts";
import { actorAudit } from "./actor-audit.ts";
import { setNodeAvailability } from "./availability.ts";
import { contextOf, look, type UseCaseDependencies } from "./dependencies.ts";
import { findNode } from "./find.ts";

export function nodeUseCases(dependencies: UseCaseDependencies): ControlPlane["nodes"] {
  return {
    list: async () => {
      const context = await look(dependencies);
      return context.world.snapshot.nodes.map((node) => nodeView(node, context));
    },
    get: async (wanted) => {
      const context = await look(dependencies);
      const found = findNode(context, wanted);
      return found.ok ? done(nodeView(found.value, context)) : found;
    },
    setAvailability: (input, actor) => setNodeAvailability(dependencies, input, actor),
    confirmLost: async (input, actor) => {
      const changed = await change(dependencies, { ...input, change: { kind: "confirm_lost" } }, actor);
      return changed.ok ? viewOf(dependencies, changed.value.node) : changed;
    },
    acceptInventory: async (input, actor) => {
      const changed = await change(dependencies, { ...input, change: { kind: "accept_inventory" } }, actor);
      return changed.ok ? viewOf(dependencies, changed.value.node) : changed;
    },
    remove: async (input, actor) => {
      const changed = await change(dependencies, { ...input, change: { kind: "remove" } }, actor);
      return changed.ok ? done({ name: changed.value.node.name, released: [...changed.value.what] }) : changed;
    },
  };
}

async function viewOf(dependencies: UseCaseDependencies, node: Node): Promise<Outcome<NodeView>> {
  const context = await look(dependencies);
  return done(nodeView(context.nodes.get(node.id) ?? node, context));
}

const verbs = {
  confirm_lost: "nodes.confirmLost",
  accept_inventory: "nodes.acceptInventory",
  remove: "nodes.remove",
} as const satisfies Record<NodeChange["kind"], string>;

async function change(
  dependencies: UseCaseDependencies,
  order: { readonly node: string; readonly reason?: string | undefined; readonly change: NodeChange },
  actor: Actor,
): Promise<Outcome<{ readonly node: Node; readonly what: readonly string[] }>> {
  const found = findNode(await look(dependencies), order.node);
  if (!found.ok) return found;
  const node = found.value;
  const mayRun = (world: World) => whyNot(world, { nodeId: node.id, change: order.change, dependencies });
  const changed = await changeNode(dependencies.database, { nodeId: node.id, change: order.change, mayRun }, (what) =>
    actorAudit(actor, { verb: verbs[order.change.kind], target: node.name, after: { what }, reason: order.reason }),
  );
  if (changed.kind === "gone") {
    return refused({ kind: "not_found", message: `${node.name} was removed a moment ago.` });
  }
  if (changed.kind === "refused") return refused({ kind: "conflict", message: changed.why });
  dependencies.onChanged();
  return done({ node, what: changed.what });
}

interface Question {
  readonly nodeId: string;
  readonly change: NodeChange;
  readonly dependencies: UseCaseDependencies;
}

/** Why the change may not be made now, in words. */
function whyNot(world: World, { nodeId, change: wanted, dependencies }: Question): string | null {
  const { snapshot } = world;
  const node = snapshot.nodes.find((one) => one.id === nodeId);
  if (node === undefined) return "the node is gone";
  switch (wanted.kind) {
    case "confirm_lost": {
      const liveness = livenessOf(node, contextOf(world, dependencies));
      if (liveness !== "live") return null;
      const ago = node.lastSeenAtMs === null ? "" : ` ${formatDuration(snapshot.nowMs - node.lastSeenAtMs)} ago`;
      return `${node.name} is alive: it was heard${ago}. Only a node that is silent can be confirmed as lost; drain this one.`;
    }
    case "accept_inventory":
      return whyNotAccept(world, node);
    case "remove":
      return whyNotRemove(world, node);
  }
}

function whyNotAccept({ snapshot }: World, node: Node): string | null {
  const missing = node.gpus.filter((gpu) => gpu.missingSinceMs !== null);
  if (missing.length === 0) return `${node.name} reports every GPU of its inventory: there is nothing to accept.`;
  for (const gpu of missing) {
    const holder = snapshot.replicas.find((replica) =>
      replica.shards.some((shard) => shard.releasedAtMs === null && shard.gpuUuids.includes(gpu.uuid)),
    );
    if (holder === undefined) continue;
    return `GPU ${gpu.index} (${gpu.uuid}) is still held by ${holder.id}, which is ${holder.phase}: accept it once that is gone.`;
  }
  return null;
}

function whyNotRemove({ snapshot }: World, node: Node): string | null {
  const availability = nodeAvailability(node, snapshot.drains);
  const confirmed = isConfirmedLost(node);
  if (availability !== "drained" && !confirmed) {
    return `${node.name} is ${availability}. Only a drained node, or one that was confirmed as lost, can be removed.`;
  }
  const inUse = snapshot.replicas.filter(
    (replica) =>
      (replica.phase === "serving" || replica.phase === "moving" || replica.phase === "draining") &&
      replica.shards.some((shard) => shard.nodeId === node.id && shard.releasedAtMs === null),
  );
  if (inUse.length === 0) return null;
  const names = inUse.map((replica) => replica.id).join(", ");
  return `routers still reach ${names} on ${node.name}: wait until they are replaced, or force its drain, then remove it.`;
}
