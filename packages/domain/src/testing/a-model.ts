import type { Model, ModelSpec } from "../cluster/model.ts";
import { testNowMs } from "./instant.ts";

/** What a test says of a model's spec; groups may be given in part. */
export interface SpecOverrides extends Partial<Omit<ModelSpec, "resources" | "place" | "engine" | "update">> {
  readonly resources?: Partial<ModelSpec["resources"]>;
  readonly place?: Partial<ModelSpec["place"]>;
  readonly engine?: Partial<ModelSpec["engine"]>;
  readonly update?: Partial<ModelSpec["update"]>;
}

/** A vLLM model of one replica on one exclusive GPU with 20 GiB. */
export function aSpec(overrides: SpecOverrides = {}): ModelSpec {
  return {
    id: "m",
    aliases: [],
    source: { kind: "hub", repo: "example/m-7b" },
    replicas: 1,
    pool: null,
    routing: {
      policy: "least-load",
      maxInflight: null,
      usageInjection: false,
      timeouts: { firstByteMs: null, idleMs: null, progressMs: null },
    },
    drain: { graceMs: null },
    load: { maxMs: 1_800_000, stallMs: 300_000 },
    ...overrides,
    update: { maxSurge: 1, whenFull: "wait", ...overrides.update },
    engine: { name: "vllm", version: null, args: [], env: {}, ...overrides.engine },
    resources: { memoryPerGpuMib: 20_480, contextTokens: null, tp: 1, shareGpu: false, ...overrides.resources },
    place: { nodes: [], labels: {}, gpus: [], ...overrides.place },
  };
}

/** A model; its id is its spec's unless given. */
export function aModel(overrides: Partial<Omit<Model, "spec">> & { readonly spec?: SpecOverrides } = {}): Model {
  const id = overrides.id ?? overrides.spec?.id ?? "m";
  return {
    revision: 1,
    createdAtMs: testNowMs - 3_600_000,
    deletedAtMs: null,
    revisions: [],
    rollout: null,
    loadTimesMs: [],
    ...overrides,
    id,
    spec: aSpec({ ...overrides.spec, id }),
  };
}
