import type { FlagValues } from "../../cli/flag-values.ts";
import type { SimSettings } from "../../cli/sim-flags.ts";
import type { ServeSettings } from "../openai/serve-settings.ts";

export interface VllmInputs {
  readonly model: string | undefined;
  readonly flags: FlagValues;
  readonly sim: SimSettings;
  readonly envApiKey: string | undefined;
}

/** What a "model's own maximum" is when `--max-model-len` does not say. */
const DEFAULT_MODEL_LEN = 32_768;
const DEFAULT_MODEL = "Qwen/Qwen3-0.6B";
const DEFAULT_KV_TOKENS = 262_144;

export function readVllmSettings({ model: modelTag, flags, sim, envApiKey }: VllmInputs): ServeSettings {
  const model = modelTag ?? flags.string("--model") ?? DEFAULT_MODEL;
  const [firstName, ...otherNames] = flags.list("--served-model-name") ?? [];
  const wantedLen = flags.number("--max-model-len") ?? -1;
  const maxModelLen = wantedLen > 0 ? wantedLen : DEFAULT_MODEL_LEN;
  const blockSize = flags.number("--block-size") ?? 16;
  const kvTokens = sim.kvTokens ?? Math.max(DEFAULT_KV_TOKENS, 2 * maxModelLen);
  return {
    model,
    servedNames: [firstName ?? model, ...otherNames],
    host: flags.string("--host"),
    port: flags.number("--port") ?? 8000,
    apiKeys: flags.list("--api-key") ?? (envApiKey === undefined || envApiKey === "" ? [] : [envApiKey]),
    maxModelLen,
    maxNumSeqs: flags.number("--max-num-seqs") ?? 256,
    maxQueuedRequests: flags.number("--max-num-queued-reqs") ?? Number.POSITIVE_INFINITY,
    maxQueuedTokens: flags.number("--max-num-queued-tokens") ?? Number.POSITIVE_INFINITY,
    blockSize,
    kvBlocks: flags.number("--num-gpu-blocks-override") ?? Math.floor(kvTokens / blockSize),
    gpuMemoryUtilization: flags.number("--gpu-memory-utilization") ?? 0.9,
    prefixCaching: flags.boolean("--enable-prefix-caching") ?? true,
    promptTokensDetails: flags.boolean("--enable-prompt-tokens-details") ?? false,
    forceIncludeUsage: flags.boolean("--enable-force-include-usage") ?? false,
    autoToolChoice: flags.boolean("--enable-auto-tool-choice") ?? false,
    serverLoadTracking: flags.boolean("--enable-server-load-tracking") ?? false,
    requestIdHeaders: flags.boolean("--enable-request-id-headers") ?? false,
    shutdownTimeoutSeconds: flags.number("--shutdown-timeout") ?? 0,
    logStats: !(flags.boolean("--disable-log-stats") ?? false),
    accessLog:
      !(flags.boolean("--disable-uvicorn-access-log") ?? false) &&
      !["critical", "error", "warning"].includes(flags.string("--uvicorn-log-level") ?? "info"),
    quietEndpoints: (flags.string("--disable-access-log-for-endpoints") ?? "").split(",").filter((path) => path !== ""),
    tensorParallelSize: flags.number("--tensor-parallel-size") ?? 1,
    pipelineParallelSize: flags.number("--pipeline-parallel-size") ?? 1,
    nodes: {
      count: flags.number("--nnodes") ?? 1,
      rank: flags.number("--node-rank") ?? 0,
      masterAddress: flags.string("--master-addr") ?? "127.0.0.1",
      masterPort: flags.number("--master-port") ?? 29_501,
      headless: flags.boolean("--headless") ?? false,
    },
    sim,
  };
}

/**
 * Configurations that vLLM refuses before it touches a GPU, in vLLM's words (the lines after the pydantic header), or
 * undefined when it would go on.
 */
export function configurationError(settings: ServeSettings): string | undefined {
  const { sim, nodes } = settings;
  const worldSize = settings.tensorParallelSize * settings.pipelineParallelSize;
  const perNode = Math.ceil(worldSize / nodes.count);
  const gpus = sim.claim?.gpuUuids.length;
  if (settings.maxNumSeqs < 1) {
    return `  Input should be greater than or equal to 1 [type=greater_than_equal, input_value=${settings.maxNumSeqs}, input_type=int]`;
  }
  if (settings.gpuMemoryUtilization <= 0 || settings.gpuMemoryUtilization > 1) {
    return `  Input should be less than or equal to 1 [type=less_than_equal, input_value=${settings.gpuMemoryUtilization}, input_type=float]`;
  }
  if (gpus !== undefined && perNode > gpus) {
    return `  Value error, World size (${perNode}) is larger than the number of available GPUs (${gpus}) in this node. If this is intentional and you are using:`;
  }
  return undefined;
}

/** vLLM's refusal, after loading the weights, of a cache that cannot hold one full request; undefined when it can. */
export function kvCacheError(settings: ServeSettings): string | undefined {
  const capacity = settings.kvBlocks * settings.blockSize;
  if (settings.maxModelLen <= capacity) {
    return undefined;
  }
  const gib = (tokens: number) => ((tokens * KV_BYTES_PER_TOKEN) / 2 ** 30).toFixed(2);
  return (
    `ValueError: To serve at least one request with the model's max seq len (${settings.maxModelLen}), ` +
    `(${gib(settings.maxModelLen)} GiB KV cache is needed, which is larger than the available KV cache memory ` +
    `(${gib(capacity)} GiB). Based on the available memory, the estimated maximum model length is ${capacity}. ` +
    "Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine."
  );
}

/** Of an 8B model with grouped-query attention in 16 bit: 2 x 32 layers x 8 heads x 128 x 2 bytes. */
export const KV_BYTES_PER_TOKEN = 131_072;
