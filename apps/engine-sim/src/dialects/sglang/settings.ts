import type { FlagValues } from "../../cli/flag-values.ts";
import type { SimSettings } from "../../cli/sim-flags.ts";
import type { ServeSettings } from "../openai/serve-settings.ts";

export interface SglangInputs {
  readonly model: string;
  readonly flags: FlagValues;
  readonly sim: SimSettings;
}

/** SGLang's own defaults: server_args.py. */
const DEFAULT_PORT = 30_000;
const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_CONTEXT = 32_768;
const DEFAULT_KV_TOKENS = 262_144;
const DEFAULT_RUNNING = 256;

export function readSglangSettings({ model, flags, sim }: SglangInputs): ServeSettings {
  const maxModelLen = flags.number("--context-length") ?? DEFAULT_CONTEXT;
  const blockSize = flags.number("--page-size") ?? 1;
  const kvTokens = flags.number("--max-total-tokens") ?? sim.kvTokens ?? Math.max(DEFAULT_KV_TOKENS, 2 * maxModelLen);
  const apiKey = flags.string("--api-key");
  const count = flags.number("--nnodes") ?? 1;
  const rank = flags.number("--node-rank") ?? 0;
  const meeting = /^\[?(.*?)\]?:(\d+)$/.exec(flags.string("--dist-init-addr") ?? "");
  return {
    model,
    servedNames: [flags.string("--served-model-name") ?? model],
    host: flags.string("--host") ?? DEFAULT_HOST,
    port: flags.number("--port") ?? DEFAULT_PORT,
    apiKeys: apiKey === undefined ? [] : [apiKey],
    maxModelLen,
    maxNumSeqs: flags.number("--max-running-requests") ?? DEFAULT_RUNNING,
    maxQueuedRequests: flags.number("--max-queued-requests") ?? Number.POSITIVE_INFINITY,
    maxQueuedTokens: Number.POSITIVE_INFINITY,
    blockSize,
    kvBlocks: Math.floor(kvTokens / blockSize),
    gpuMemoryUtilization: flags.number("--mem-fraction-static") ?? 0.85,
    prefixCaching: !(flags.boolean("--disable-radix-cache") ?? false),
    promptTokensDetails: flags.boolean("--enable-cache-report") ?? false,
    forceIncludeUsage: false,
    autoToolChoice: flags.string("--tool-call-parser") !== undefined,
    serverLoadTracking: false,
    requestIdHeaders: false,
    // It waits for what is in flight however long that takes.
    shutdownTimeoutSeconds: Number.POSITIVE_INFINITY,
    logStats: flags.boolean("--enable-metrics") ?? false,
    accessLog: flags.string("--log-level-http") !== "warning",
    quietEndpoints: flags.list("--uvicorn-access-log-exclude-prefixes") ?? [],
    tensorParallelSize: flags.number("--tp-size") ?? 1,
    pipelineParallelSize: flags.number("--pp-size") ?? 1,
    nodes: {
      count,
      rank,
      masterAddress: meeting?.[1] ?? "127.0.0.1",
      masterPort: Number(meeting?.[2] ?? 29_500),
      headless: false,
    },
    sim,
  };
}

/** What SGLang refuses before it touches a GPU, in its words; undefined when it would go on. */
export function sglangConfigurationError({
  tensorParallelSize,
  pipelineParallelSize,
  nodes,
  sim,
}: ServeSettings): string | undefined {
  const world = tensorParallelSize * pipelineParallelSize;
  if (world % nodes.count !== 0) {
    return "AssertionError: tp_size must be divisible by number of nodes";
  }
  const gpus = sim.claim?.gpuUuids.length;
  if (gpus !== undefined && world / nodes.count > gpus) {
    return "RuntimeError: CUDA error: invalid device ordinal";
  }
  return undefined;
}
