import { type Drain, drainScope } from "../cluster/drain.ts";
import type { Gpu } from "../cluster/gpu.ts";
import { nodeLiveness } from "../cluster/liveness.ts";
import type { Model } from "../cluster/model.ts";
import type { Node } from "../cluster/node.ts";
import type { ClusterSnapshot, ControlSettings } from "../cluster/snapshot.ts";
import { type Assumptions, type Tenancy, type Tenant, tenancyOf } from "./tenants.ts";

/** A question to placement: where would (or does) a replica of this model run. */
export interface PlacementQuestion {
  readonly model: Model;
  /** The replica to place; null for a new one. What it already holds stays held until its processes are confirmed dead. */
  readonly replicaId: string | null;
  readonly snapshot: ClusterSnapshot;
  readonly settings: ControlSettings;
  /** Node ids that are not to be used. */
  readonly exclude?: ReadonlySet<string>;
  /** Node id → failures to count on top of those in the snapshot. */
  readonly penalties?: ReadonlyMap<string, number>;
  readonly assume?: Assumptions;
}

/** The question with everything that rules and scores look up, built once a placement. */
export interface PlacementContext extends PlacementQuestion {
  readonly tenancy: Tenancy;
  readonly openDrains: ReadonlyMap<string, Drain>;
  /** GPU UUID → the node it belongs to, among those that are not lost and report it. */
  readonly gpuOwners: ReadonlyMap<string, Node>;
  /** Node id → recent failures of this model's replicas there. */
  readonly failures: ReadonlyMap<string, number>;
}

const nobody: readonly Tenant[] = [];

export function placementContext(question: PlacementQuestion): PlacementContext {
  const { snapshot, model, settings, penalties } = question;
  const openDrains = new Map<string, Drain>();
  for (const drain of snapshot.drains) {
    if (drain.endedAtMs !== null || drainScope(drain) !== "node") continue;
    const other = openDrains.get(drain.nodeId);
    if (other === undefined || drain.startedAtMs < other.startedAtMs) openDrains.set(drain.nodeId, drain);
  }

  const gpuOwners = new Map<string, Node>();
  for (const node of snapshot.nodes) {
    if (nodeLiveness(node, { ...snapshot, settings }) === "lost") continue;
    for (const gpu of node.gpus) {
      if (gpu.missingSinceMs !== null) continue;
      const owner = gpuOwners.get(gpu.uuid);
      if (owner === undefined || joinedBefore(node, owner)) gpuOwners.set(gpu.uuid, node);
    }
  }

  const failures = new Map(penalties);
  const sinceMs = snapshot.nowMs - settings.failureWindowMs;
  for (const replica of snapshot.replicas) {
    if (replica.modelId !== model.id) continue;
    for (const failure of replica.failures) {
      if (failure.atMs >= sinceMs) failures.set(failure.nodeId, (failures.get(failure.nodeId) ?? 0) + 1);
    }
  }
  return { ...question, tenancy: tenancyOf(snapshot, question.assume), openDrains, gpuOwners, failures };
}

export function tenantsOf(context: PlacementContext, gpu: Gpu): readonly Tenant[] {
  return context.tenancy.byGpu.get(gpu.uuid) ?? nobody;
}

/** How people meet a GPU in a sentence. Its UUID, the identity, is beside it wherever there is room. */
export function gpuLabel(node: Node, gpu: Gpu): string {
  return `${node.name} GPU ${gpu.index}`;
}

/** A UUID that two living nodes report belongs to the one that joined first. */
function joinedBefore(a: Node, b: Node): boolean {
  return a.registeredAtMs !== b.registeredAtMs ? a.registeredAtMs < b.registeredAtMs : a.id < b.id;
}
