import type { FlagKind, FlagSpec } from "../../cli/parse-flags.ts";

/**
 * Flags of `sglang serve` (0.5; python/sglang/srt/server_args.py). The first table has an effect on the simulator; the
 * second is accepted, as on a real engine, and changes nothing here.
 */
const EFFECTIVE: readonly FlagSpec[] = [
  { name: "--model-path", kind: "string", aliases: ["--model"] },
  { name: "--host", kind: "string" },
  { name: "--port", kind: "int" },
  { name: "--served-model-name", kind: "string" },
  { name: "--api-key", kind: "string" },
  { name: "--config", kind: "string" },
  { name: "--context-length", kind: "int" },
  { name: "--max-running-requests", kind: "int" },
  { name: "--max-queued-requests", kind: "int" },
  { name: "--max-total-tokens", kind: "int" },
  { name: "--page-size", kind: "int" },
  { name: "--mem-fraction-static", kind: "float" },
  { name: "--disable-radix-cache", kind: "switch" },
  { name: "--enable-cache-report", kind: "switch" },
  { name: "--enable-metrics", kind: "switch" },
  { name: "--tool-call-parser", kind: "string" },
  { name: "--log-level-http", kind: "string" },
  { name: "--uvicorn-access-log-exclude-prefixes", kind: "list" },
  { name: "--tp-size", kind: "int", aliases: ["--tensor-parallel-size", "--tp"] },
  { name: "--pp-size", kind: "int", aliases: ["--pipeline-parallel-size", "--pp"] },
  { name: "--nnodes", kind: "int" },
  { name: "--node-rank", kind: "int" },
  { name: "--dist-init-addr", kind: "string", aliases: ["--nccl-init-addr"] },
];

const WITHOUT_EFFECT: Readonly<Partial<Record<FlagKind, string>>> = {
  string: `
    tokenizer-path tokenizer-mode load-format model-loader-extra-config dtype quantization quantization-param-path
    kv-cache-dtype device revision impl model-impl chat-template completion-template reasoning-parser
    file-storage-path log-level schedule-policy attention-backend prefill-attention-backend decode-attention-backend
    sampling-backend grammar-backend mm-attention-backend moe-runner-backend moe-a2a-backend fp8-gemm-backend
    speculative-algorithm speculative-draft-model-path speculative-draft-model-revision speculative-token-map
    json-model-override-args preferred-sampling-params hf-chat-template-name storage-path download-dir
    disaggregation-mode disaggregation-transfer-backend disaggregation-ib-device hicache-storage-backend
    hicache-write-policy hicache-mem-layout hicache-io-backend load-balance-method dist-timeout-policy admin-api-key
    otlp-traces-endpoint lora-backend deepep-mode ep-dispatch-algorithm crash-dump-folder sleep-policy
    weight-version bucket-time-to-first-token collect-tokens-histogram`,
  int: `
    random-seed base-gpu-id gpu-id-step dp-size data-parallel-size ep-size ep expert-parallel-size
    max-prefill-tokens chunked-prefill-size stream-interval watchdog-timeout dist-timeout num-continuous-decode-steps
    cuda-graph-max-bs max-micro-batch-size speculative-num-steps speculative-eagle-topk speculative-num-draft-tokens
    ep-num-redundant-experts init-expert-location-trivial max-lora-rank max-loras-per-batch hicache-size
    decode-log-interval tokenizer-worker-num nccl-port disaggregation-bootstrap-port disaggregation-prefill-pp
    file-storage-mtime num-reserved-decode-tokens priority-scheduling-preemption-threshold`,
  float: `
    schedule-conservativeness cpu-offload-gb hicache-ratio swa-full-tokens-ratio soft-watchdog-timeout
    speculative-accept-threshold-single speculative-accept-threshold-acc gc-warning-threshold-secs`,
  switch: `
    trust-remote-code skip-tokenizer-init skip-server-warmup is-embedding enable-multimodal log-requests
    show-time-cost enable-p2p-check disable-cuda-graph disable-cuda-graph-padding enable-torch-compile
    disable-overlap-schedule enable-mixed-chunk enable-dp-attention enable-dp-lm-head enable-two-batch-overlap
    disable-custom-all-reduce enable-mscclpp enable-nccl-nvls enable-symm-mem disable-outlines-disk-cache
    enable-hierarchical-cache enable-lora enable-memory-saver enable-eplb enable-request-time-stats-logging
    enable-priority-scheduling schedule-low-priority-values-first abort-on-priority-when-disabled sleep-on-idle
    disable-chunked-prefix-cache disable-fast-image-processor enable-return-hidden-states enable-deterministic-inference
    triton-attention-reduce-in-fp32 delete-ckpt-after-loading enable-metrics-for-all-schedulers
    disable-shared-experts-fusion enable-expert-distribution-metrics enable-trace enable-fp32-lm-head
    stream-output enable-tokenizer-batch-encode enable-prefill-delayer`,
  list: "lora-paths lora-target-modules cuda-graph-bs custom-sigquit-handler log-requests-target export-metrics-to-file",
};

/** All flags of `sglang serve` that the simulator takes. Booleans have no `--no-` form. */
export function sglangFlags(): FlagSpec[] {
  const quiet = Object.entries(WITHOUT_EFFECT).flatMap(([kind, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name): FlagSpec => ({ name: `--${name}`, kind: kind as FlagKind })),
  );
  return [...EFFECTIVE, ...quiet];
}
