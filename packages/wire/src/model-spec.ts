import { engineNames, type ModelSpec, routingPolicies } from "@llmgw/domain";
import { z } from "zod";

const mib = { KiB: 1 / 1024, MiB: 1, GiB: 1024, TiB: 1024 * 1024 } as const;
const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `80GiB`, `512MiB` or an integer of MiB → MiB. */
export const memorySize = z.union([z.int().positive(), z.string()]).transform((value, context) => {
  if (typeof value === "number") return value;
  const match = /^(\d+(?:\.\d+)?)\s*(KiB|MiB|GiB|TiB)$/.exec(value.trim());
  const size = Number(match?.[1]) * mib[(match?.[2] ?? "MiB") as keyof typeof mib];
  if (match === null || !Number.isFinite(size) || size < 1) {
    context.addIssue({ code: "custom", message: `expected a size such as "80GiB" or "512MiB", found "${value}"` });
    return z.NEVER;
  }
  return Math.round(size);
});

/** `30s`, `15m`, `1h30m`, `500ms` or an integer of milliseconds → ms. */
export const durationMs = z.union([z.int().nonnegative(), z.string()]).transform((value, context) => {
  if (typeof value === "number") return value;
  const text = value.trim();
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map((part) => part[0]).join("") !== text) {
    context.addIssue({
      code: "custom",
      message: `expected a duration such as "30s", "15m" or "1h30m", found "${value}"`,
    });
    return z.NEVER;
  }
  return Math.round(
    parts.reduce((sum, part) => sum + Number(part[1]) * milliseconds[part[2] as keyof typeof milliseconds], 0),
  );
});

const modelId = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]*$/, "expected letters, digits and . _ : / - (starting with a letter or digit)");

const source = z.union([
  z.strictObject({ hub: z.string().min(1) }).transform(({ hub }) => ({ kind: "hub" as const, repo: hub })),
  z.strictObject({ path: z.string().min(1) }).transform(({ path }) => ({ kind: "path" as const, path })),
  z
    .strictObject({ external: z.array(z.url()).min(1) })
    .transform(({ external }) => ({ kind: "external" as const, urls: external })),
]);

/** `model.yaml` as people write it; parsing fills in every default. Unknown fields are errors. */
export const modelManifest = z
  .strictObject({
    apiVersion: z.literal("llmgw/v1").default("llmgw/v1"),
    kind: z.literal("Model").default("Model"),
    id: modelId,
    aliases: z.array(modelId).max(32).default([]),
    source,
    engine: z.strictObject({
      name: z.enum(engineNames),
      version: z.string().optional(),
      args: z.array(z.string()).default([]),
      env: z.record(z.string(), z.string()).default({}),
    }),
    replicas: z.int().min(0).max(1000).default(1),
    pool: z.string().min(1).optional(),
    resources: z.strictObject({
      memoryPerGpu: memorySize,
      context: z.int().positive().optional(),
      tp: z.int().min(1).max(64).default(1),
      shareGpu: z.boolean().default(false),
    }),
    place: z
      .strictObject({
        nodes: z.array(z.string()).default([]),
        labels: z.record(z.string(), z.string()).default({}),
        gpus: z.array(z.string()).default([]),
      })
      .prefault({}),
    routing: z
      .strictObject({
        policy: z.enum(routingPolicies).default("least-load"),
        maxInflight: z.int().positive().optional(),
        usageInjection: z.boolean().default(false),
        timeouts: z
          .strictObject({
            firstByte: durationMs.optional(),
            idle: durationMs.optional(),
            progress: durationMs.optional(),
          })
          .prefault({}),
      })
      .prefault({}),
    update: z
      .strictObject({
        maxSurge: z.int().min(1).max(64).default(1),
        whenFull: z.enum(["wait", "replace"]).default("wait"),
      })
      .prefault({}),
    drain: z.strictObject({ grace: durationMs.optional() }).prefault({}),
    load: z.strictObject({ max: durationMs.prefault("30m"), stall: durationMs.prefault("5m") }).prefault({}),
  })
  .transform(
    (manifest): ModelSpec => ({
      id: manifest.id,
      aliases: manifest.aliases,
      source: manifest.source,
      engine: { ...manifest.engine, version: manifest.engine.version ?? null },
      replicas: manifest.replicas,
      pool: manifest.pool ?? null,
      resources: {
        memoryPerGpuMib: manifest.resources.memoryPerGpu,
        contextTokens: manifest.resources.context ?? null,
        tp: manifest.resources.tp,
        shareGpu: manifest.resources.shareGpu,
      },
      place: manifest.place,
      routing: {
        policy: manifest.routing.policy,
        maxInflight: manifest.routing.maxInflight ?? null,
        usageInjection: manifest.routing.usageInjection,
        timeouts: {
          firstByteMs: manifest.routing.timeouts.firstByte ?? null,
          idleMs: manifest.routing.timeouts.idle ?? null,
          progressMs: manifest.routing.timeouts.progress ?? null,
        },
      },
      update: manifest.update,
      drain: { graceMs: manifest.drain.grace ?? null },
      load: { maxMs: manifest.load.max, stallMs: manifest.load.stall },
    }),
  );
export type ModelManifest = z.input<typeof modelManifest>;

/** A spec that has been parsed before (database, sync): no transforms, so that it can travel both ways. */
export const modelSpecSchema = z.custom<ModelSpec>(
  (value) => typeof value === "object" && value !== null && "id" in value,
);
