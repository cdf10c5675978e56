import type { DrainView } from "@llmgw/api";
import { type Actor, type ControlPlane, done, type Outcome, refused } from "@llmgw/api/server";
import { changeDrain, type DrainChange } from "../../db/operator/change-drain.ts";
import { readDrain, readDrains, readModelIds } from "../../db/world.ts";
import { drainView } from "../views/drain-view.ts";
import { actorAudit } from "./actor-audit.ts";
import { look, type UseCaseDependencies, unknown } from "./dependencies.ts";
import { previewOf } from "./drain-preview.ts";
import { findTargets } from "./drain-targets.ts";
import { findNode } from "./find.ts";

export function drainUseCases(dependencies: UseCaseDependencies): ControlPlane["drains"] {
  const { database } = dependencies;
  return {
    list: async ({ node, open }) => {
      const context = await look(dependencies);
      const found = node === undefined ? null : findNode(context, node);
      const nodeId = found === null ? undefined : found.ok ? found.value.id : node;
      const filter = { ...(nodeId === undefined ? {} : { nodeId }), ...(open === undefined ? {} : { open }) };
      const drains = await readDrains(database, filter);
      const records = await Promise.all(drains.map((drain) => readDrain(database, drain.id)));
      const modelIds = await readModelIds(
        database,
        drains.map((drain) => drain.id),
      );
      return records
        .filter((record) => record !== null)
        .map(({ drain, moves }) => drainView(drain, moves, { context, modelIds }));
    },
    get: (drain) => viewOf(dependencies, drain),
    preview: async ({ graceMs, ...wanted }) => {
      const context = await look(dependencies);
      const found = findTargets(context, wanted);
      if (!found.ok) return found;
      const targets = found.value.map((one) => one.target);
      return done(previewOf(context.world, { targets, graceMs, dependencies }));
    },
    extend: ({ drain, graceMs, reason }, actor) =>
      change(dependencies, { drain, change: { kind: "extend", byMs: graceMs }, reason }, actor),
    stop: ({ drain, uncordon, reason }, actor) =>
      change(dependencies, { drain, change: { kind: "stop", uncordon }, reason }, actor),
    force: ({ drain, reason }, actor) =>
      change(dependencies, { drain, change: { kind: "force", by: actor.name }, reason }, actor),
  };
}

async function change(
  dependencies: UseCaseDependencies,
  order: { readonly drain: string; readonly change: DrainChange; readonly reason: string | undefined },
  actor: Actor,
): Promise<Outcome<DrainView>> {
  const changed = await changeDrain(
    dependencies.database,
    { drainId: order.drain, change: order.change },
    (before, after) =>
      actorAudit(actor, {
        verb: `drains.${order.change.kind}`,
        target: order.drain,
        before,
        after,
        reason: order.reason,
        cause: order.drain,
      }),
  );
  if (changed.kind === "unknown") return unknown("drain", order.drain, []);
  if (changed.kind === "over") {
    const message = `Drain ${order.drain} is over (${changed.result ?? "no result"}); only an open drain can be changed.`;
    return refused({ kind: "conflict", message });
  }
  dependencies.onChanged();
  return viewOf(dependencies, order.drain);
}

async function viewOf(dependencies: UseCaseDependencies, drainId: string): Promise<Outcome<DrainView>> {
  const context = await look(dependencies);
  const record = await readDrain(dependencies.database, drainId);
  if (record === null) return unknown("drain", drainId, []);
  return done(drainView(record.drain, record.moves, { context, modelIds: record.modelIds }));
}
