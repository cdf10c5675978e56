import { routingPolicies } from "@llmgw/domain";
import { duration, listenAddress, sha256Hex } from "@llmgw/service";
import { bands, type EndpointTable } from "@llmgw/wire";
import { z } from "zod";
import { defaultRouterSettings, type RouterSettings } from "./settings.ts";

const name = z.string().min(1).max(253);
const ratio = z.number().min(0).max(1);
const count = z.int().positive();

/** For a field that the format has and this build has not: refused, so that nobody believes it works. */
function unsupported(instead: string) {
  return z
    .unknown()
    .refine((value) => value === undefined, { error: `not supported yet: ${instead}` })
    .optional();
}

const readableEngine = z.enum(["vllm", "sim", "none"], {
  error: ({ input }) =>
    input === "sglang" || input === "llamacpp"
      ? `engine ${input} is not supported yet: use "none", which balances by requests in flight`
      : "expected vllm or none",
});

const policy = z.enum(routingPolicies, {
  error: ({ input }) =>
    input === "prefix" || input === "session"
      ? `policy ${input} is not supported yet: use least-load or round-robin`
      : `expected ${routingPolicies.join(" or ")}`,
});

const key = z.strictObject({
  id: name,
  secret: z.string().min(1),
  models: z.array(name),
  maxBand: z.enum(bands).default("interactive"),
  expiresAt: z.iso.datetime({ offset: true }).optional(),
  limits: unsupported("remove the limits of this key"),
});

const endpoint = z.strictObject({
  id: name,
  url: z.url({ protocol: /^https?$/ }),
  metricsUrl: z.url({ protocol: /^https?$/ }).optional(),
  pool: z.string().default("none"),
  engine: readableEngine.default("none"),
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
  usageInjection: z.literal(false, { error: "not supported yet: leave it out or set it to false" }).optional(),
  endpoints: z.array(endpoint),
});

const admission = z.strictObject({
  waitBudgetMs: duration.optional(),
  maxQueuedRequests: count.optional(),
  maxQueuedBytes: count.optional(),
  maxBodyBytes: count.optional(),
  bodyMemoryBytes: count.optional(),
  noEndpointWaitMs: z
    .literal(0, { error: "waiting for an endpoint is not supported yet: leave it out or set it to 0" })
    .optional(),
  bands: z
    .array(z.string())
    .refine((given) => given.join() === bands.join(), {
      error: `bands of your own are not supported yet: expected [${bands.join(", ")}]`,
    })
    .optional(),
  ceilings: unsupported("remove it; bands are served in strict order"),
  lowBandShare: unsupported("remove it; bands are served in strict order"),
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
  slowStartMs: unsupported("remove it; a new endpoint takes its full share at once"),
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
  const problems = duplicates(result.data);
  if (problems.length > 0) return { kind: "invalid", problems };
  const { listen, diagnostics } = result.data;
  return {
    kind: "ok",
    config: { listen, diagnostics, table: tableOf(result.data, version), settings: settingsOf(result.data) },
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

function twice(names: readonly string[]): string[] {
  return [...new Set(names.filter((candidate, index) => names.indexOf(candidate) !== index))];
}

function tableOf({ keys, models }: RouterFile, version: number): EndpointTable {
  return {
    clusterId: "static",
    version,
    keys: keys.map(({ id, secret, models: allowed, maxBand, expiresAt }) => ({
      id,
      sha256: sha256Hex(secret),
      models: allowed,
      maxBand,
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
      revoked: false,
    })),
    models: models.map(({ id, aliases, policy: modelPolicy, timeouts: limits, endpoints }) => ({
      id,
      aliases,
      policy: modelPolicy,
      timeouts: {
        firstByteMs: limits.firstByteMs ?? null,
        idleMs: limits.idleMs ?? null,
        progressMs: limits.progressMs ?? null,
      },
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
  const { bands: _bands, noEndpointWaitMs: _wait, ceilings: _c, lowBandShare: _l, ...given } = file.admission ?? {};
  return {
    admission: merged(defaults.admission, given),
    timeouts: merged(defaults.timeouts, file.timeouts),
    breaker: merged(defaults.breaker, file.breaker),
    retry: merged(defaults.retry, file.retry),
    scrape: merged(defaults.scrape, file.scrape),
    saturation: merged(defaults.saturation, file.saturation),
    cors: merged(defaults.cors, file.cors),
  };
}

function merged<T extends object>(defaults: T, given: { [K in keyof T]?: T[K] | undefined } = {}): T {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(set) };
}
