import type { Reason } from "../reasons/reason.ts";

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
  readonly update: {
    readonly maxSurge: number;
    /** What a rollout does where no replica more fits: wait for room, or end an old replica first. */
    readonly whenFull: "wait" | "replace";
  };
  readonly drain: { readonly graceMs: number | null };
  readonly load: { readonly maxMs: number; readonly stallMs: number };
}

/** A spec that replicas were or are made from. */
export interface ModelRevision {
  readonly revision: number;
  readonly spec: ModelSpec;
}

/** Replicas are on their way from one revision of their model to its present one. */
export interface Rollout {
  /** What it came from, and what an undo goes back to. */
  readonly fromRevision: number;
  readonly startedAtMs: number;
  readonly by: string;
  /** With `whenFull: replace`: the last serving replica may be ended, too. */
  readonly acceptGap: boolean;
  /** Since when it is paused as failed: what still runs serves on, and is not replaced. Null: it goes on. */
  readonly failedAtMs: number | null;
  /** Why it failed. */
  readonly reason: Reason | null;
}

/** A deployment. `revision` grows with each change of what engines are started with; replicas remember theirs. */
export interface Model {
  readonly id: string;
  readonly spec: ModelSpec;
  readonly revision: number;
  readonly createdAtMs: number;
  readonly deletedAtMs: number | null;
  /** Other revisions that are still needed: some replica was made from them, or a rollout came from there. */
  readonly revisions: readonly ModelRevision[];
  readonly rollout: Rollout | null;
  /** How long the latest starts took from placement to serving, ms, newest last. */
  readonly loadTimesMs: readonly number[];
}

/** The spec that a replica of this revision was started with; the present one where it is not known any more. */
export function specOfRevision(model: Model, revision: number): ModelSpec {
  if (revision === model.revision) return model.spec;
  return model.revisions.find((known) => known.revision === revision)?.spec ?? model.spec;
}

/**
 * The model as its replicas are started now: the present revision, or while a rollout is paused as failed the one that
 * it came from. The count of replicas is always the present one.
 */
export function startedModel(model: Model): Model {
  const from = model.rollout;
  if (from === null || from.failedAtMs === null) return model;
  const known = model.revisions.find(({ revision }) => revision === from.fromRevision);
  if (known === undefined) return model;
  return { ...model, revision: known.revision, spec: { ...known.spec, replicas: model.spec.replicas } };
}

/** The newest starts that a model remembers. */
const rememberedLoads = 20;

export function withLoadTime(loadTimesMs: readonly number[], loadMs: number): readonly number[] {
  return [...loadTimesMs, Math.max(0, Math.round(loadMs))].slice(-rememberedLoads);
}

/**
 * How long a start of this model takes, ms: the 90th percentile of its latest ones (nearest rank), or the longest it may
 * take where it has never been started.
 */
export function expectedLoadMs(model: Model): number {
  const sorted = [...model.loadTimesMs].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.9) - 1] ?? model.spec.load.maxMs;
}

/**
 * What an engine is started with, as a text that is the same exactly when a running one need not be replaced. Routing,
 * grace, load limits and the count of replicas take effect at once.
 */
export function launchText(spec: ModelSpec): string {
  const { aliases, source, engine, pool, resources, place } = spec;
  return JSON.stringify(sorted({ aliases, source, engine, pool, resources, place }));
}

/** With the keys of every object in order: a database may return them in another. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
