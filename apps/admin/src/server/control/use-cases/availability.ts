import type { SetAvailabilityInput } from "@llmgw/api";
import { type Actor, type AvailabilityChange, done, type Outcome, refused } from "@llmgw/api/server";
import { type AvailabilityOrder, type Carried, setAvailability } from "../../db/operator/set-availability.ts";
import { readDrain, type World } from "../../db/world.ts";
import { drainView } from "../views/drain-view.ts";
import { nodeView } from "../views/node-view.ts";
import { actorAudit } from "./actor-audit.ts";
import { availabilityWords } from "./availability-words.ts";
import { look, type UseCaseDependencies } from "./dependencies.ts";
import { previewOf } from "./drain-preview.ts";
import { type NamedTarget, nodeTarget, usualGraceMs } from "./drain-targets.ts";
import { findGpu, findNode } from "./find.ts";

/** What an operator wants of some nodes, GPUs or replicas, all of it together. */
export interface Wish {
  readonly verb: "nodes.setAvailability" | "replicas.drain";
  readonly targets: readonly NamedTarget[];
  readonly target: SetAvailabilityInput["target"];
  readonly reason: string | undefined;
  readonly graceMs: number | undefined;
  readonly force: boolean;
  readonly plan: string | undefined;
}

/** Cordons, lifts or drains; answers one change for each target, in their order. */
export async function changeAvailability(
  dependencies: UseCaseDependencies,
  wish: Wish,
  actor: Actor,
): Promise<Outcome<readonly AvailabilityChange[]>> {
  const context = await look(dependencies);
  const { targets, graceMs } = wish;
  const plain = targets.map((one) => one.target);
  const defaultGraceMs = usualGraceMs(context, plain, dependencies.settings.control);
  const orders = targets.map(
    ({ target }): AvailabilityOrder => ({
      target,
      by: actor.name,
      reason: wish.reason ?? "",
      change:
        wish.target === "draining"
          ? { kind: "drain", graceMs: graceMs ?? null, defaultGraceMs, force: wish.force }
          : { kind: wish.target === "cordoned" ? "cordon" : "uncordon" },
    }),
  );
  const plan = wish.target === "draining" ? wish.plan : undefined;
  const preview = (world: World) => previewOf(world, { targets: plain, graceMs, dependencies });
  const names = targets.map(nameOf);
  const result = await setAvailability(dependencies.database, orders, {
    audit: (order, { effect, drainId }) => {
      const { gpuUuid, replica } = order.target;
      return actorAudit(actor, {
        verb: wish.verb,
        target: names[orders.indexOf(order)] ?? order.target.nodeId,
        after: {
          target: wish.target,
          gpu: gpuUuid ?? undefined,
          replica: replica?.id,
          graceMs,
          force: wish.force,
          effect,
        },
        reason: wish.reason,
        cause: drainId,
      });
    },
    mayRun: plan === undefined ? null : (world) => preview(world).plan === plan,
  });
  if (result.kind === "gone") {
    const message = `One of these was removed a moment ago: ${names.join(", ")}.`;
    return refused({ kind: "not_found", message });
  }
  if (result.kind === "refused") {
    return refused({
      kind: "stale_plan",
      message: `The cluster has changed since the preview of draining ${names.join(", ")}. Look at the new one, then run that.`,
      fresh: preview(result.world),
    });
  }
  dependencies.onChanged();
  return done(await describe(dependencies, targets, result.carried));
}

/** `nodes.setAvailability` as it is called: one node or GPU, and with it others of the same order. */
export async function setNodeAvailability(
  dependencies: UseCaseDependencies,
  input: SetAvailabilityInput,
  actor: Actor,
): Promise<Outcome<AvailabilityChange & { also: readonly AvailabilityChange[] }>> {
  const context = await look(dependencies);
  const { also = [], gpu: wanted } = input;
  if (wanted !== undefined && also.length > 0) {
    const message = `"also" names whole nodes, and "gpu" one GPU of ${input.node}: give one of them.`;
    return refused({ kind: "invalid", message });
  }
  const targets: NamedTarget[] = [];
  for (const name of [input.node, ...also]) {
    const node = findNode(context, name);
    if (!node.ok) return node;
    const gpu = wanted === undefined ? null : findGpu(node.value, wanted);
    if (gpu !== null && !gpu.ok) return gpu;
    if (targets.some((one) => one.node.id === node.value.id)) continue;
    targets.push(nodeTarget(node.value, gpu?.value ?? null));
  }
  const { target, reason, graceMs, force = false, plan } = input;
  const verb = "nodes.setAvailability";
  const changed = await changeAvailability(
    dependencies,
    { verb, targets, target, reason, graceMs, force, plan },
    actor,
  );
  if (!changed.ok) return changed;
  const [first, ...others] = changed.value;
  if (first === undefined) throw new Error("an order of one node changed none");
  return done({ ...first, also: others });
}

function nameOf({ target, node }: NamedTarget): string {
  return target.replica?.id ?? node.name;
}

async function describe(
  dependencies: UseCaseDependencies,
  targets: readonly NamedTarget[],
  carried: readonly Carried[],
): Promise<AvailabilityChange[]> {
  const context = await look(dependencies);
  const changes: AvailabilityChange[] = [];
  for (const [index, { node: before, target }] of targets.entries()) {
    const node = context.nodes.get(before.id) ?? before;
    const { effect, drainId } = carried[index] ?? { effect: "drain_unchanged", drainId: null };
    const record = drainId === null ? null : await readDrain(dependencies.database, drainId);
    const graceLeftMs = record === null ? null : record.drain.deadlineAtMs - context.world.snapshot.nowMs;
    changes.push({
      node: nodeView(node, context),
      drain: record === null ? null : drainView(record.drain, record.moves, { context, modelIds: record.modelIds }),
      message: availabilityWords(effect, { node, target, graceLeftMs }),
    });
  }
  return changes;
}
