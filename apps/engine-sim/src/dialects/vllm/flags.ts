import type { FlagKind, FlagSpec } from "../../cli/parse-flags.ts";

/**
 * Flags of `vllm serve` (0.33). The first table has an effect on the simulator; the second is accepted, as on a real
 * engine, and changes nothing here. Flags that would change the listener itself (TLS, Unix sockets) are left out, so
 * that nobody believes they work.
 */
const EFFECTIVE: readonly FlagSpec[] = [
  { name: "--model", kind: "string" },
  { name: "--host", kind: "string" },
  { name: "--port", kind: "int" },
  { name: "--served-model-name", kind: "list" },
  { name: "--api-key", kind: "list" },
  { name: "--max-model-len", kind: "human-int" },
  { name: "--max-num-seqs", kind: "int" },
  { name: "--max-num-queued-reqs", kind: "int" },
  { name: "--max-num-queued-tokens", kind: "human-int" },
  { name: "--block-size", kind: "int" },
  { name: "--num-gpu-blocks-override", kind: "int" },
  { name: "--gpu-memory-utilization", kind: "float" },
  { name: "--enable-prefix-caching", kind: "toggle" },
  { name: "--enable-prompt-tokens-details", kind: "switch" },
  { name: "--enable-force-include-usage", kind: "switch" },
  { name: "--enable-auto-tool-choice", kind: "switch" },
  { name: "--enable-server-load-tracking", kind: "switch" },
  { name: "--enable-request-id-headers", kind: "switch" },
  { name: "--shutdown-timeout", kind: "int" },
  { name: "--disable-log-stats", kind: "switch" },
  { name: "--disable-uvicorn-access-log", kind: "switch" },
  { name: "--disable-access-log-for-endpoints", kind: "string" },
  { name: "--uvicorn-log-level", kind: "string", choices: ["critical", "error", "warning", "info", "debug", "trace"] },
  { name: "--tensor-parallel-size", kind: "int", aliases: ["-tp"] },
  { name: "--pipeline-parallel-size", kind: "int", aliases: ["-pp"] },
  { name: "--nnodes", kind: "int", aliases: ["-n"] },
  { name: "--node-rank", kind: "int", aliases: ["-r"] },
  { name: "--master-addr", kind: "string" },
  { name: "--master-port", kind: "int" },
  { name: "--headless", kind: "switch" },
];

const WITHOUT_EFFECT: Readonly<Record<Exclude<FlagKind, "human-int">, string>> = {
  string: `
    tokenizer tokenizer-mode revision code-revision tokenizer-revision hf-config-path hf-token config-format
    download-dir load-format quantization chat-template chat-template-content-format response-role tool-call-parser
    tool-parser-plugin reasoning-parser reasoning-parser-plugin otlp-traces-endpoint collect-detailed-traces
    data-parallel-address data-parallel-backend kv-cache-dtype scheduler-cls worker-cls worker-extension-cls
    guided-decoding-backend model-impl generation-config root-path show-hidden-metrics-for-version config
    attention-backend moe-backend linear-backend mm-processor-device optimization-level logits-processor-pattern
    allowed-local-media-path prefix-caching-hash-algo io-processor-plugin structured-outputs-backend`,
  int: `
    data-parallel-size data-parallel-size-local data-parallel-start-rank data-parallel-rank data-parallel-rpc-port
    decode-context-parallel-size prefill-context-parallel-size max-num-batched-tokens max-logprobs seed
    max-parallel-loading-workers max-loras max-lora-rank max-cpu-loras max-log-len api-server-count
    prefix-cache-retention-interval stream-interval long-prefill-token-threshold kv-cache-memory-bytes
    h11-max-incomplete-event-size h11-max-header-count mm-processor-num-workers sse-keep-alive-interval`,
  float: "cpu-offload-gb swap-space mm-processor-cache-gb kv-cache-metrics-sample rope-theta",
  json: `
    hf-overrides limit-mm-per-prompt mm-processor-kwargs media-io-kwargs model-loader-extra-config
    override-generation-config speculative-config kv-transfer-config kv-events-config compilation-config
    additional-config structured-outputs-config pooler-config rope-scaling eplb-config ec-transfer-config
    default-chat-template-kwargs attention-config`,
  switch: `
    trust-remote-code enforce-eager enable-log-outputs enable-tokenizer-info-endpoint
    disable-frontend-multiprocessing disable-fastapi-docs return-tokens-as-token-ids trust-request-chat-template
    enable-offline-docs data-parallel-hybrid-lb data-parallel-external-lb allow-credentials
    enable-fault-tolerance kv-cache-metrics enable-mfu-metrics log-config-file-once per-request-spec-decode-metrics`,
  toggle: `
    enable-chunked-prefill enable-lora enable-expert-parallel enable-eplb enable-sleep-mode enable-log-requests
    async-scheduling disable-custom-all-reduce disable-sliding-window disable-cascade-attn
    disable-hybrid-kv-cache-manager disable-mm-preprocessor-cache skip-tokenizer-init skip-mm-profiling
    enable-prompt-embeds calculate-kv-scales enable-dbo use-tqdm-on-load exclude-tools-when-tool-choice-none
    fully-sharded-loras ray-workers-use-nsight disable-nccl-for-dp-synchronization enable-trace-replay
    interleave-mm-strings language-model-only`,
  list: "lora-modules middleware allowed-origins allowed-methods allowed-headers cudagraph-capture-sizes logits-processors",
  repeat: "middleware-class",
};

const CHOSEN_WITHOUT_EFFECT: readonly FlagSpec[] = [
  { name: "--dtype", kind: "string", choices: ["auto", "bfloat16", "float", "float16", "float32", "half"] },
  { name: "--scheduling-policy", kind: "string", choices: ["fcfs", "priority"] },
  { name: "--runner", kind: "string", choices: ["auto", "draft", "generate", "pooling"] },
  { name: "--convert", kind: "string", choices: ["auto", "classify", "embed", "none", "reward"] },
  { name: "--distributed-executor-backend", kind: "string", choices: ["external_launcher", "mp", "ray", "uni"] },
  { name: "--compilation-level", kind: "int", aliases: ["-O"] },
];

const SHORT_NAMES: Readonly<Record<string, readonly string[]>> = {
  "--data-parallel-size": ["-dp"],
  "--data-parallel-size-local": ["-dpl"],
  "--data-parallel-address": ["-dpa"],
  "--data-parallel-rpc-port": ["-dpp"],
  "--data-parallel-start-rank": ["-dpr"],
  "--data-parallel-rank": ["-dpn"],
  "--quantization": ["-q"],
  "--speculative-config": ["-sc"],
  "--compilation-config": ["-cc"],
};

/** All flags of `vllm serve` that the simulator takes. */
export function vllmFlags(): FlagSpec[] {
  const quiet = Object.entries(WITHOUT_EFFECT).flatMap(([kind, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name): FlagSpec => {
        const flag = `--${name}`;
        const aliases = SHORT_NAMES[flag];
        return { name: flag, kind: kind as FlagKind, ...(aliases === undefined ? {} : { aliases }) };
      }),
  );
  return [...EFFECTIVE, ...CHOSEN_WITHOUT_EFFECT, ...quiet];
}

/** The flags that do something here, for `--help`. */
export function effectiveFlagNames(): string[] {
  return EFFECTIVE.map((flag) => flag.name);
}
