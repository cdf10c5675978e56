import type { SetAvailabilityInput } from "@llmgw/api";
import { type Actor, type AvailabilityChange, type ControlPlane, done, type Outcome, refused } from "@llmgw/api/server";
import type { Gpu, Node } from "@llmgw/domain";
import { type AvailabilityOrder, setAvailability } from "../../db/operator/set-availability.ts";
import { readDrain, type World } from "../../db/world.ts";
import { drainView } from "../views/drain-view.ts";
import { nodeView } from "../views/node-view.ts";
import { actorAudit } from "./actor-audit.ts";
import { availabilityWords } from "./availability-words.ts";
import { look, type UseCaseDependencies } from "./dependencies.ts";
import { previewOf } from "./drain-preview.ts";
import { findGpu, findNode } from "./find.ts";

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
    setAvailability: (input, actor) => changeAvailability(dependencies, input, actor),
  };
}

async function changeAvailability(
  dependencies: UseCaseDependencies,
  input: SetAvailabilityInput,
  actor: Actor,
): Promise<Outcome<AvailabilityChange>> {
  const context = await look(dependencies);
  const found = findNode(context, input.node);
  if (!found.ok) return found;
  const node = found.value;
  const gpu = input.gpu === undefined ? null : findGpu(node, input.gpu);
  if (gpu !== null && !gpu.ok) return gpu;
  const order = toOrder(input, { node, gpu: gpu?.value ?? null, actor, dependencies });
  if (!order.ok) return order;

  const plan = input.target === "draining" ? input.plan : undefined;
  const preview = (world: World) => previewOf(world, { nodeIds: [node.id], graceMs: input.graceMs, dependencies });
  const result = await setAvailability(dependencies.database, order.value, {
    audit: (effect, drainId) =>
      actorAudit(actor, {
        verb: "nodes.setAvailability",
        target: node.name,
        after: { target: input.target, gpu: gpu?.value.uuid, graceMs: input.graceMs, force: input.force, effect },
        reason: input.reason,
        cause: drainId,
      }),
    mayRun: plan === undefined ? null : (world) => preview(world).plan === plan,
  });
  if (result.kind === "gone") {
    return refused({ kind: "not_found", message: `${node.name} was removed a moment ago.` });
  }
  if (result.kind === "refused") {
    return refused({
      kind: "stale_plan",
      message: `The cluster has changed since the preview of draining ${node.name}. Look at the new one, then run that.`,
      fresh: preview(result.world),
    });
  }
  dependencies.onChanged();
  return done(await describeChange(dependencies, { nodeId: node.id, gpu: gpu?.value ?? null, result }));
}

function toOrder(
  input: SetAvailabilityInput,
  about: {
    readonly node: Node;
    readonly gpu: Gpu | null;
    readonly actor: Actor;
    readonly dependencies: UseCaseDependencies;
  },
): Outcome<AvailabilityOrder> {
  const { node, gpu, actor, dependencies } = about;
  const order = { nodeId: node.id, by: actor.name, reason: input.reason ?? "" };
  const gpuUuid = gpu?.uuid ?? null;
  switch (input.target) {
    case "cordoned":
      return done({ ...order, change: { kind: "cordon", gpuUuid } });
    case "active":
      return done({ ...order, change: { kind: "uncordon", gpuUuid } });
    case "draining": {
      if (gpu !== null) {
        const message = `A drain is of a whole node; found gpu "${input.gpu}". Cordon the GPU, or drain ${node.name} without it.`;
        return refused({ kind: "invalid", message });
      }
      const { defaultGraceMs } = dependencies.settings.control;
      const graceMs = input.graceMs ?? null;
      return done({ ...order, change: { kind: "drain", graceMs, defaultGraceMs, force: input.force === true } });
    }
  }
}

async function describeChange(
  dependencies: UseCaseDependencies,
  change: {
    readonly nodeId: string;
    readonly gpu: Gpu | null;
    readonly result: { readonly effect: Parameters<typeof availabilityWords>[0]; readonly drainId: string | null };
  },
): Promise<AvailabilityChange> {
  const context = await look(dependencies);
  const node = context.nodes.get(change.nodeId);
  if (node === undefined) throw new Error(`node ${change.nodeId} vanished within a moment`);
  const { effect, drainId } = change.result;
  const record = drainId === null ? null : await readDrain(dependencies.database, drainId);
  const graceLeftMs = record === null ? null : record.drain.deadlineAtMs - context.world.snapshot.nowMs;
  return {
    node: nodeView(node, context),
    drain: record === null ? null : drainView(record.drain, record.moves, { context, modelIds: record.modelIds }),
    message: availabilityWords(effect, { node, gpuIndex: change.gpu?.index ?? null, graceLeftMs }),
  };
}
