import { launchText, type Model, type ModelRevision, type ModelSpec, type Rollout } from "../cluster/model.ts";

export interface Revising {
  readonly nowMs: number;
  readonly by: string;
  readonly acceptGap: boolean;
}

/**
 * The model after an operator applied a spec. A change of what engines are started with is a new revision and begins a
 * rollout; any other change takes effect at once. `latest` is the highest revision that it ever had.
 */
export function revised(model: Model, spec: ModelSpec, order: Revising & { readonly latest?: number }): Model {
  if (launchText(spec) === launchText(model.spec)) return { ...model, spec };
  const known = Math.max(model.revision, order.latest ?? 0, ...model.revisions.map(({ revision }) => revision));
  return rolledTo(model, { revision: known + 1, spec }, order);
}

/**
 * The model back at an earlier revision: the named one, or the one that the latest rollout came from. The count of
 * replicas stays. Replicas that were made from that revision stay as they are. Null where there is no such revision.
 */
export function rolledBack(model: Model, to: number | null, order: Revising): Model | null {
  const wanted = to ?? model.rollout?.fromRevision ?? previousOf(model);
  const found = model.revisions.find(({ revision }) => revision === wanted);
  if (found === undefined || found.revision === model.revision) return null;
  const spec = { ...found.spec, replicas: model.spec.replicas };
  return rolledTo(model, { revision: found.revision, spec }, order);
}

function previousOf(model: Model): number | null {
  const earlier = model.revisions.map(({ revision }) => revision).filter((revision) => revision < model.revision);
  return earlier.length === 0 ? null : Math.max(...earlier);
}

function rolledTo(model: Model, to: ModelRevision, { nowMs, by, acceptGap }: Revising): Model {
  const rollout: Rollout = {
    fromRevision: model.revision,
    startedAtMs: nowMs,
    by,
    acceptGap,
    failedAtMs: null,
    reason: null,
  };
  const others = model.revisions.filter(({ revision }) => revision !== model.revision && revision !== to.revision);
  return {
    ...model,
    spec: to.spec,
    revision: to.revision,
    revisions: [...others, { revision: model.revision, spec: model.spec }],
    rollout,
  };
}
