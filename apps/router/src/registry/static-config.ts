import { routingPolicies } from "@llmgw/domain";
import { duration, listenAddress, sha256Hex } from "@llmgw/service";
import type { EndpointTable } from "@llmgw/wire";
import { z } from "zod";
import { ceilingsFor, defaultRouterSettings, type RouterSettings } from "./settings.ts";

const name = z.string().min(1).max(253);
const ratio = z.number().min(0).max(1);
const count = z.int().positive();

const engine = z.enum(["vllm", "sglang", "llamacpp", "sim", "none"], {
  error: "expected vllm, sglang, llamacpp, or none for an engine without metrics",
});

const policy = z.enum(routingPolicies, { error: `expected one of ${routingPolicies.join(", ")}` });

const limits = z.strictObject({
  requestsPerMinute: count.optional(),
  tokensPerMinute: count.optional(),
  concurrent: count.optional(),
});

const key = z.strictObject({
  id: name,
  secret: z.string().min(1),
  models: z.array(name),
  maxBand: z.string().optional(),
  expiresAt: z.iso.datetime({ offset: true }).optional(),
  limits: limits.default({}),
  mayExplain: z.boolean().default(false),
});

const endpoint = z.strictObject({
  id: name,
  url: z.url({ protocol: /^https?$/ }),
  metricsUrl: z.url({ protocol: /^https?$/ }).optional(),
  pool: z.string().default("none"),
  engine: engine.default("none"),
  state: z.enum(["serving", "moving", "draining"]).default("serving"),
  maxInflight: count.optional(),
  maxConcurrent: count.optional(),
  apiKey: z.string().min(1).optional(),
});

const model = z.strictObject({
  id: name,
  aliases: z.array(name).default([]),
  policy: policy.default("least-load"),
  timeouts: z
    .strictObject({ firstByteMs: duration.optional(), idleMs: duration.optional(), progressMs: duration.optional() })
    .default({}),
  usageInjection: z.boolean().default(false),
  endpoints: z.array(endpoint),
});

const admission = z.strictObject({
  waitBudgetMs: duration.optional(),
  maxQueuedRequests: count.optional(),
  maxQueuedBytes: count.optional(),
  maxBodyBytes: count.optional(),
  bodyMemoryBytes: count.optional(),
  noEndpointWaitMs: duration.optional(),
  bands: z
    .array(name)
    .min(1)
    .refine((given) => new Set(given).size === given.length, { error: "expected each band once" })
    .optional(),
  ceilings: z
    .array(ratio.refine((ceiling) => ceiling > 0, { error: "expected a share above 0" }))
    .refine((given) => given[0] === 1 && given.every((ceiling, rank) => ceiling <= (given[rank - 1] ?? 1)), {
      error: "expected 1 for the first band, and for no band more than for the one before it",
    })
    .optional(),
  lowBandShare: ratio.optional(),
});

const timeouts = z.strictObject({
  connectMs: duration.optional(),
  firstByteMs: duration.optional(),
  firstByteNonStreamMs: duration.optional(),
  idleMs: duration.optional(),
  progressMs: duration.optional(),
  clientStallMs: duration.optional(),
  clientHeadersMs: duration.optional(),
  clientKeepAliveMs: duration.optional(),
  uploadMs: duration.optional(),
  shutdownGraceMs: duration.optional(),
});

const origin = z.string().refine((text) => text === "*" || (URL.canParse(text) && new URL(text).origin === text), {
  error: 'expected "*" or an origin such as https://chat.example.com, without a path',
});

const breaker = z.strictObject({
  failures: count.optional(),
  ratio: ratio.optional(),
  ratioMinRequests: count.optional(),
  windowMs: duration.optional(),
  cooldownMs: duration.optional(),
  cooldownMaxMs: duration.optional(),
  successes: count.optional(),
});

/** The file of a router that runs without an admin. */
const routerFile = z.strictObject({
  listen: listenAddress.optional(),
  diagnostics: listenAddress.optional(),
  keys: z.array(key),
  models: z.array(model),
  admission: admission.optional(),
  timeouts: timeouts.optional(),
  breaker: breaker.optional(),
  retry: z.strictObject({ maxAttempts: count.optional(), budgetRatio: ratio.optional() }).optional(),
  scrape: z
    .strictObject({
      intervalMs: duration.optional(),
      timeoutMs: duration.optional(),
      staleAfterMs: duration.optional(),
    })
    .optional(),
  saturation: z.strictObject({ waiting: z.number().positive().optional(), kvUsage: ratio.optional() }).optional(),
  slowStartMs: duration.optional(),
  cors: z.strictObject({ origins: z.array(origin) }).optional(),
});
type RouterFile = z.output<typeof routerFile>;

export interface StaticConfig {
  readonly listen: z.output<typeof listenAddress> | undefined;
  readonly diagnostics: z.output<typeof listenAddress> | undefined;
  readonly table: EndpointTable;
  readonly settings: RouterSettings;
}

export type StaticConfigReading =
  | { readonly kind: "ok"; readonly config: StaticConfig }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads a parsed router.yaml. `version` numbers the tables of one process, so that a reload is seen to be another one. */
export function readStaticConfig(document: unknown, version: number): StaticConfigReading {
  const result = routerFile.safeParse(document);
  if (!result.success) {
    return { kind: "invalid", problems: result.error.issues.map((issue) => problemOf(issue)) };
  }
  const settings = settingsOf(result.data);
  const problems = [...duplicates(result.data), ...bandProblems(result.data, settings)];
  if (problems.length > 0) return { kind: "invalid", problems };
  const { listen, diagnostics } = result.data;
  return {
    kind: "ok",
    config: { listen, diagnostics, table: tableOf(result.data, settings, version), settings },
  };
}

function problemOf(issue: z.core.$ZodIssue): string {
  const path = issue.path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
  if (issue.code !== "unrecognized_keys") return `${path === "" ? "the file" : path}: ${issue.message}`;
  const fields = issue.keys.map((field) => (path === "" ? field : `${path}.${field}`)).join(", ");
  return `${fields}: unknown field; see the documentation of router.yaml for the fields there are`;
}

/** Names that must be told apart and are not. */
function duplicates({ keys, models }: RouterFile): string[] {
  const names = models.flatMap(({ id, aliases }) => [id, ...aliases]);
  const replicas = models.flatMap(({ endpoints }) => endpoints.map(({ id }) => id));
  return [
    ...twice(names).map((found) => `models: ${found} is the id or alias of two models; expected each name once`),
    ...twice(replicas).map((found) => `models: two endpoints have the id ${found}; expected each id once`),
    ...twice(keys.map(({ id }) => id)).map((found) => `keys: two keys have the id ${found}; expected each id once`),
    ...(twice(keys.map(({ secret }) => secret)).length > 0 ? ["keys: two keys have the same secret"] : []),
  ];
}

/** Bands that keys name and nobody knows, and ceilings that do not fit the bands. */
function bandProblems({ keys }: RouterFile, { admission: { bands, ceilings } }: RouterSettings): string[] {
  const unknown = keys.flatMap(({ maxBand }, index) => {
    if (maxBand === undefined || bands.includes(maxBand)) return [];
    return [`keys[${index}].maxBand: found ${maxBand}, expected one of ${bands.join(", ")}`];
  });
  if (ceilings.length === bands.length) return unknown;
  return [
    ...unknown,
    `admission.ceilings: found ${ceilings.length} of them, expected one for each of ${bands.length} bands`,
  ];
}

function twice(names: readonly string[]): string[] {
  return [...new Set(names.filter((candidate, index) => names.indexOf(candidate) !== index))];
}

function tableOf({ keys, models }: RouterFile, settings: RouterSettings, version: number): EndpointTable {
  const [firstBand = ""] = settings.admission.bands;
  return {
    clusterId: "static",
    version,
    routers: 1,
    keys: keys.map(({ id, secret, models: allowed, maxBand, expiresAt, limits: given, mayExplain }) => ({
      id,
      sha256: sha256Hex(secret),
      models: allowed,
      maxBand: maxBand ?? firstBand,
      limits: {
        requestsPerMinute: given.requestsPerMinute ?? null,
        tokensPerMinute: given.tokensPerMinute ?? null,
        concurrent: given.concurrent ?? null,
      },
      mayExplain,
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
      revoked: false,
    })),
    models: models.map(({ id, aliases, policy: modelPolicy, timeouts: given, usageInjection, endpoints }) => ({
      id,
      aliases,
      policy: modelPolicy,
      timeouts: {
        firstByteMs: given.firstByteMs ?? null,
        idleMs: given.idleMs ?? null,
        progressMs: given.progressMs ?? null,
      },
      usageInjection,
      endpoints: endpoints.map((entry) => ({
        replica: entry.id,
        generation: 0,
        url: entry.url,
        metricsUrl: entry.metricsUrl ?? null,
        pool: entry.pool,
        engine: entry.engine,
        state: entry.state,
        maxInflight: entry.maxInflight ?? null,
        maxConcurrent: entry.maxConcurrent ?? null,
        apiKey: entry.apiKey ?? null,
      })),
    })),
  };
}

function settingsOf(file: RouterFile): RouterSettings {
  const defaults = defaultRouterSettings;
  const bandCount = file.admission?.bands?.length ?? defaults.admission.bands.length;
  return {
    admission: merged({ ...defaults.admission, ceilings: ceilingsFor(bandCount) }, file.admission),
    timeouts: merged(defaults.timeouts, file.timeouts),
    breaker: merged(defaults.breaker, file.breaker),
    retry: merged(defaults.retry, file.retry),
    scrape: merged(defaults.scrape, file.scrape),
    saturation: merged(defaults.saturation, file.saturation),
    slowStartMs: file.slowStartMs ?? defaults.slowStartMs,
    cors: merged(defaults.cors, file.cors),
  };
}

function merged<T extends object>(defaults: T, given: { [K in keyof T]?: T[K] | undefined } = {}): T {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}
