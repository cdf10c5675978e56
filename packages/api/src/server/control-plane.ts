import type { ModelSpec, PlacementRecord } from "@llmgw/domain";
import type { AgentSyncAnswer, AgentSyncRequest, RouterSyncAnswer, RouterSyncRequest, UsageReport } from "@llmgw/wire";
import type {
  AuditInput,
  CreateKeyInput,
  DrainReplicaInput,
  DrainsInput,
  ExplainInput,
  LogsInput,
  NodeInput,
  PreviewInput,
  ReplicasInput,
  RevokeKeyInput,
  SetAvailabilityInput,
  UpdateKeyInput,
  UsageInput,
} from "../inputs.ts";
import type { Permission } from "../permissions.ts";
import type { AuditVerification, AuditView, ClusterView, RouterView } from "../views/access.ts";
import type { DrainPreview, DrainView } from "../views/drain.ts";
import type { CreatedKey, KeyChange, KeyView, UsageView } from "../views/key.ts";
import type { ModelView } from "../views/model.ts";
import type { NodeView } from "../views/node.ts";
import type { ReplicaView } from "../views/replica.ts";
import type { Outcome } from "./outcome.ts";

/** Who calls, as far as a credential proved it. `id` is the node's or router's id for machines. */
export interface Actor {
  readonly kind: "user" | "token" | "node" | "router" | "anonymous";
  readonly id: string;
  readonly name: string;
  readonly permission: Permission | null;
  readonly sourceAddress: string;
  readonly requestId: string;
}

/** What a mutation on a node's availability did and what will happen now. */
export interface AvailabilityChange {
  readonly node: NodeView;
  readonly drain: DrainView | null;
  readonly message: string;
}

interface RefusedCall {
  readonly verb: string;
  /** Null: its input does not name anything. */
  readonly target: string | null;
  readonly outcome: "denied" | "failed";
  /** What the caller was told, of a failed one. */
  readonly message?: string;
}

/** The use-cases behind the API. Everything that changes something writes its audit row in the same transaction. */
export interface ControlPlane {
  readonly cluster: { get(): Promise<ClusterView> };
  readonly nodes: {
    list(): Promise<readonly NodeView[]>;
    get(node: string): Promise<Outcome<NodeView>>;
    setAvailability(
      input: SetAvailabilityInput,
      actor: Actor,
    ): Promise<Outcome<AvailabilityChange & { also: readonly AvailabilityChange[] }>>;
    confirmLost(input: NodeInput, actor: Actor): Promise<Outcome<NodeView>>;
    acceptInventory(input: NodeInput, actor: Actor): Promise<Outcome<NodeView>>;
    /** `released`: shards that were never confirmed gone and hold nothing any more. */
    remove(input: NodeInput, actor: Actor): Promise<Outcome<{ name: string; released: string[] }>>;
  };
  readonly models: {
    list(): Promise<readonly ModelView[]>;
    get(model: string): Promise<Outcome<ModelView>>;
    apply(
      spec: ModelSpec,
      actor: Actor,
    ): Promise<Outcome<{ model: ModelView; change: "created" | "updated" | "unchanged" }>>;
    rollback(
      input: { model: string; revision?: number | undefined; reason?: string | undefined },
      actor: Actor,
    ): Promise<Outcome<ModelView>>;
    acceptGap(input: { model: string; reason?: string | undefined }, actor: Actor): Promise<Outcome<ModelView>>;
    scale(
      input: { model: string; replicas: number; reason?: string | undefined },
      actor: Actor,
    ): Promise<Outcome<ModelView>>;
    delete(input: { model: string; reason?: string | undefined }, actor: Actor): Promise<Outcome<ModelView>>;
  };
  readonly replicas: {
    list(input: ReplicasInput): Promise<readonly ReplicaView[]>;
    get(replica: string): Promise<Outcome<{ replica: ReplicaView; record: PlacementRecord | null }>>;
    drain(input: DrainReplicaInput, actor: Actor): Promise<Outcome<AvailabilityChange>>;
    logs(input: LogsInput, signal: AbortSignal): Promise<Outcome<{ lines: string[]; truncated: boolean }>>;
  };
  readonly placement: { explain(input: ExplainInput): Promise<Outcome<PlacementRecord>> };
  readonly drains: {
    list(input: DrainsInput): Promise<readonly DrainView[]>;
    get(drain: string): Promise<Outcome<DrainView>>;
    preview(input: PreviewInput): Promise<Outcome<DrainPreview>>;
    extend(
      input: { drain: string; graceMs: number; reason?: string | undefined },
      actor: Actor,
    ): Promise<Outcome<DrainView>>;
    stop(
      input: { drain: string; uncordon: boolean; reason?: string | undefined },
      actor: Actor,
    ): Promise<Outcome<DrainView>>;
    force(input: { drain: string; reason?: string | undefined }, actor: Actor): Promise<Outcome<DrainView>>;
  };
  readonly routers: {
    list(): Promise<readonly RouterView[]>;
    sync(request: RouterSyncRequest, actor: Actor, signal: AbortSignal): Promise<Outcome<RouterSyncAnswer>>;
    /** Counts a batch of usage once, however often it is sent. */
    reportUsage(report: UsageReport): Promise<Outcome<{ seq: number }>>;
  };
  /** Changes wait, for some seconds at most, until every live router has them in force. */
  readonly keys: {
    list(): Promise<readonly KeyView[]>;
    create(input: CreateKeyInput, actor: Actor, signal: AbortSignal): Promise<Outcome<CreatedKey>>;
    update(input: UpdateKeyInput, actor: Actor, signal: AbortSignal): Promise<Outcome<KeyChange>>;
    revoke(input: RevokeKeyInput, actor: Actor, signal: AbortSignal): Promise<Outcome<KeyChange>>;
  };
  readonly usage: { list(input: UsageInput): Promise<Outcome<readonly UsageView[]>> };
  readonly agents: {
    join(
      request: { name: string; machineId: string; bootId: string; simulated: boolean },
      actor: Actor,
    ): Promise<Outcome<{ nodeId: string; credential: string; clusterId: string }>>;
    sync(request: AgentSyncRequest, actor: Actor, signal: AbortSignal): Promise<Outcome<AgentSyncAnswer>>;
  };
  readonly audit: {
    list(input: AuditInput): Promise<{ rows: AuditView[]; nextBefore: number | null }>;
    verify(signal: AbortSignal): Promise<AuditVerification>;
    /** A call that was denied or failed: one row per actor, verb, target and minute, with a count. */
    refused(actor: Actor, call: RefusedCall): Promise<void>;
  };
  readonly access: {
    createSignInLink(input: { name: string }, actor: Actor): Promise<Outcome<{ path: string; expiresAt: string }>>;
  };
}
