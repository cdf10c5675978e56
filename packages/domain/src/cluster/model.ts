export const engineNames = ["vllm", "sglang", "llamacpp", "sim", "external"] as const;
export type EngineName = (typeof engineNames)[number];

/**
 * How a router chooses among endpoints: the less busy of two drawn; one that has had the prompt's head before; one that has
 * had the session before; each in turn.
 */
export const routingPolicies = ["least-load", "prefix", "session", "round-robin"] as const;
export type RoutingPolicy = (typeof routingPolicies)[number];

export type ModelSource =
  | { readonly kind: "hub"; readonly repo: string }
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "external"; readonly urls: readonly string[] };

/** The spec of a model, as an operator writes it (`model.yaml`), with every default filled in. */
export interface ModelSpec {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly source: ModelSource;
  readonly engine: {
    readonly name: EngineName;
    readonly version: string | null;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  readonly replicas: number;
  readonly pool: string | null;
  readonly resources: {
    /** MiB each GPU must have free for this model. */
    readonly memoryPerGpuMib: number;
    readonly contextTokens: number | null;
    /** GPUs of one shard (tensor parallel size). */
    readonly tp: number;
    readonly shareGpu: boolean;
  };
  readonly place: {
    readonly nodes: readonly string[];
    readonly labels: Readonly<Record<string, string>>;
    readonly gpus: readonly string[];
  };
  readonly routing: {
    readonly policy: RoutingPolicy;
    readonly maxInflight: number | null;
    /** Engines are asked to tell what a streamed answer used, and clients that did not ask are not told. */
    readonly usageInjection: boolean;
    readonly timeouts: {
      readonly firstByteMs: number | null;
      readonly idleMs: number | null;
      readonly progressMs: number | null;
    };
  };
  readonly update: { readonly maxSurge: number };
  readonly drain: { readonly graceMs: number | null };
  readonly load: { readonly maxMs: number; readonly stallMs: number };
}

/** A deployment. `revision` grows with each change of the spec; replicas remember the revision they were made from. */
export interface Model {
  readonly id: string;
  readonly spec: ModelSpec;
  readonly revision: number;
  readonly createdAtMs: number;
  readonly deletedAtMs: number | null;
}
