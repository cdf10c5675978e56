import type { FailureCategory } from "@llmgw/domain";

/** A kind of failure that engines' logs show. Rules are tried in order; the first that matches any line wins. */
export interface FailureRule {
  readonly id: string;
  readonly category: FailureCategory;
  /** The engines whose logs it is for; null: all. */
  readonly engines: readonly string[] | null;
  readonly pattern: RegExp;
  readonly cause: string;
  readonly hint: string;
}

/**
 * Specific errors first; wrappers that only say that something failed (`config_invalid`, `engine_dead`) last. The
 * simulator prints the lines of the engine that it simulates, so that engine's rules are its rules.
 */
export const failureRules: readonly FailureRule[] = [
  {
    id: "driver_mismatch",
    category: "gpu_fault",
    engines: null,
    pattern:
      /Driver\/library version mismatch|NVML_ERROR_LIB_RM_VERSION_MISMATCH|CUDA driver version is insufficient for CUDA runtime|The NVIDIA driver on your system is too old/i,
    cause: "The NVIDIA driver on the node does not match the CUDA libraries",
    hint: "Reboot the node (or reload the nvidia modules) after a driver update; else use an engine build for this driver. Cordon the node meanwhile.",
  },
  {
    id: "gpu_lost",
    category: "gpu_fault",
    engines: null,
    pattern:
      /fallen off the bus|GPU is lost|Unable to determine the device handle for GPU|CUDA error: (?:uncorrectable ECC error|unspecified launch failure|device-side hardware|unknown error)|uncorrectable (?:ECC|NVLink) error encountered/i,
    cause: "A GPU failed while the engine used it (lost from the bus, ECC or NVLink fault)",
    hint: "The GPU is excluded from placement. Drain the node, check Xid lines in the kernel log, reset the GPU or reboot; replace it if it repeats.",
  },
  {
    id: "cuda_unavailable",
    category: "gpu_fault",
    engines: null,
    pattern:
      /No CUDA GPUs are available|CUDA-capable device\(s\) is\/are busy or unavailable|Failed to infer device type|no CUDA-capable device is detected|Found no NVIDIA driver|invalid device ordinal|ggml_cuda_init: failed to initialize CUDA/i,
    cause: "The engine process cannot see the GPUs it was given",
    hint: "Check CUDA_VISIBLE_DEVICES, the container GPU runtime, exclusive compute mode, and that the driver is loaded (nvidia-smi on the node).",
  },
  {
    id: "no_kernel_image",
    category: "bad_configuration",
    engines: null,
    pattern:
      /no kernel image is available for execution|(?:compute capability|sm_\d+).{0,80}(?:not (?:compatible|supported)|is less than|at least)|requires (?:device with capability|compute capability)|Bfloat16 is only supported on GPUs with compute capability/i,
    cause: "This engine build or dtype does not support this GPU generation",
    hint: "Place the model in a pool of newer GPUs, use --dtype float16, or another engine build.",
  },
  {
    id: "gpu_memory_busy",
    category: "out_of_memory",
    engines: ["vllm"],
    pattern: /Free memory on device .{0,60}on startup is less than desired GPU memory utilization/i,
    cause: "Another process already holds memory on the GPU, so the engine cannot reserve its share",
    hint: "Look at the processes on this GPU (often an orphan worker of the previous run); stop them or lower --gpu-memory-utilization.",
  },
  {
    id: "kv_cache_too_small",
    category: "out_of_memory",
    engines: ["vllm", "sglang", "llamacpp"],
    pattern:
      /KV cache is needed, which is larger than|No available memory for the cache blocks|is larger than the maximum number of tokens that can be stored in KV cache|Not enough memory\. Please try to increase --mem-fraction-static|failed to (?:allocate|create) (?:buffer for )?(?:the )?kv cache/i,
    cause: "Weights fit, but too little GPU memory is left for the KV cache at this context length",
    hint: "Lower the context length (the log names the estimated maximum), raise the memory fraction, or use more GPUs (TP).",
  },
  {
    id: "gpu_oom",
    category: "out_of_memory",
    engines: null,
    pattern:
      /CUDA out of memory|CUDA error: out of memory|cudaMalloc failed: out of memory|HIP out of memory|OutOfMemoryError|unable to allocate (?:CUDA|ROCm|Vulkan)\w* buffer|failed to allocate (?:CUDA|ROCm)\w* buffer|Not enough memory to handle \d+ prefill tokens/i,
    cause: "The GPU ran out of memory while loading or running the model",
    hint: "Use more or larger GPUs, a quantized model, a shorter context, fewer sequences (--max-num-seqs / -np), or a lower memory fraction if it happened at runtime.",
  },
  {
    id: "not_enough_gpus",
    category: "bad_configuration",
    engines: ["vllm", "sglang"],
    pattern:
      /World size \(\d+\) is larger than the number of available GPUs|tensor.parallel.size.{0,40}(?:exceeds|greater than).{0,40}(?:GPU|device)|The number of required GPUs exceeds the total number of available GPUs/i,
    cause: "The replica asks for more GPUs than the process can see",
    hint: "TP x PP must equal the GPUs given to the shard; for several nodes pass --nnodes/--node-rank (or the ray backend).",
  },
  {
    id: "tp_size_invalid",
    category: "bad_configuration",
    engines: ["vllm", "sglang"],
    pattern:
      /(?:attention heads|vocab(?:ulary)? size|hidden size|intermediate.size|kv heads).{0,60}(?:must be|is not|not) (?:evenly )?divisible by|is not divisible by (?:tensor_parallel_size|tp_size|tp size)|must be divisible by (?:tensor parallel size|tp_size|tp-size|nnodes)/i,
    cause: "The tensor-parallel size does not divide the model (attention heads, vocabulary or a quantized block)",
    hint: "Choose a TP size that divides the attention-head count (1, 2, 4, 8 for most models) or use pipeline parallelism.",
  },
  {
    id: "max_len_exceeds_model",
    category: "bad_configuration",
    engines: ["vllm", "sglang"],
    pattern:
      /User-specified max_model_len \(\d+\) is greater than the derived max_model_len|context.length.{0,60}(?:longer|larger|greater) than the (?:model|derived)|is greater than the context length derived/i,
    cause: "The configured context length is larger than the model supports",
    hint: "Lower the context length to the value named in the log.",
  },
  {
    id: "unsupported_arch",
    category: "bad_configuration",
    engines: null,
    pattern:
      /Model architectures \[.*\] (?:are not supported for now|failed to be inspected)|unknown model architecture|does not recognize this architecture|Unsupported architectures?:|is not supported in-tree anymore|was supported in vLLM until/i,
    cause: "This engine version does not know the model architecture",
    hint: "Update the engine, or serve this model with another engine.",
  },
  {
    id: "unsupported_quant",
    category: "bad_configuration",
    engines: ["vllm", "sglang"],
    pattern:
      /Unknown quantization method|quantization method .{0,60}not (?:supported|available)|Quantization method specified in the model config .* does not match/i,
    cause: "The quantization format is not supported by this engine or GPU",
    hint: "Use another checkpoint (FP8 needs compute capability >= 8.9, NVFP4 >= 10.0) or drop the --quantization flag.",
  },
  {
    id: "trust_remote_code",
    category: "bad_configuration",
    engines: ["vllm", "sglang"],
    pattern: /trust_remote_code=True|requires you to execute the configuration file/i,
    cause: "The model ships its own code, and the engine was not allowed to run it",
    hint: "Review the model repository, then add --trust-remote-code if you accept it.",
  },
  {
    id: "model_auth",
    category: "model_not_found",
    engines: null,
    pattern:
      /Cannot access gated repo|401 Client Error|403 (?:Client Error|Forbidden)|GatedRepoError|Access to model .* is restricted/i,
    cause: "The model hub refused the download (gated model or bad token)",
    hint: "Set HF_TOKEN on the node for an account with access, or place the weights on the node and use a local path.",
  },
  {
    id: "shm_too_small",
    category: "bad_configuration",
    engines: ["vllm", "sglang"],
    pattern:
      /Bus error.{0,80}shared memory|insufficient shared memory|unable to (?:open|mmap) shared memory|No space left on device.*\/dev\/shm|Failed to (?:create|allocate) shared memory/i,
    cause: "Shared memory (/dev/shm) is too small for multi-GPU serving",
    hint: "Run the container with --ipc=host or a larger --shm-size (16 GiB or more).",
  },
  {
    id: "disk_full",
    category: "crash",
    engines: null,
    pattern: /No space left on device|Disk quota exceeded|not enough free disk space/i,
    cause: "The node ran out of disk space (model cache, compile cache or log)",
    hint: "Free space in the model cache directory or move it to a larger disk.",
  },
  {
    id: "model_not_found",
    category: "model_not_found",
    engines: null,
    pattern:
      /Repository Not Found for url|RepositoryNotFoundError|is not a local folder and is not a valid model identifier|Invalid repository ID or local directory|does not appear to have a file named config\.json|Cannot find any model weights|failed to open GGUF file|gguf_init_from_file.*failed|No such file or directory.{0,80}(?:\.gguf|\.safetensors|config\.json|model)|error: (?:model|file) .*(?:does not exist|not found)/i,
    cause: "The model path or repository does not exist on this node",
    hint: "Check the model path on that very node (every shard needs the same path) and the repository name.",
  },
  {
    id: "model_corrupt",
    category: "model_not_found",
    engines: null,
    pattern:
      /SafetensorError|MetadataIncompleteBuffer|HeaderTooLarge|invalid magic|failed to read (?:magic|key-value pairs)|missing tensor|check_tensor_dims: tensor '.*' not found|tensor '.*' data is not within the file bounds|corrupted or incomplete|PytorchStreamReader failed/i,
    cause: "A weight file is damaged or incomplete",
    hint: "Delete and download the file again; compare its checksum.",
  },
  {
    id: "download_failed",
    category: "model_not_found",
    engines: null,
    pattern:
      /(?:LocalEntryNotFoundError|Max retries exceeded with url|Temporary failure in name resolution|Connection to huggingface\.co|OfflineModeIsEnabled|couldn't connect to 'https:\/\/huggingface\.co')/i,
    cause: "The model could not be downloaded (no network or hub unreachable)",
    hint: "Place the weights on the node and use a local path, or fix proxy/DNS.",
  },
  {
    id: "port_in_use",
    category: "port_in_use",
    engines: null,
    pattern:
      /^(?!.*NCCL WARN).*(?:Errno 98|EADDRINUSE|address already in use|Port \d+ is (?:already )?(?:in use|occupied)|couldn't bind (?:HTTP )?server socket|Failed to create server socket|server socket has failed to listen|Failed to bind)/i,
    cause: "A port this shard needs is taken on the node",
    hint: "Another engine or a left-over process listens there; the agent should pick another port or stop the orphan.",
  },
  {
    id: "nccl_timeout",
    category: "crash",
    engines: ["vllm", "sglang"],
    pattern:
      /Watchdog caught collective operation timeout|NCCL (?:operation|communicator).{0,60}timed? ?out|Some NCCL operations have failed or timed out|ncclCommInitRank.{0,60}timeout|Watchdog timeout \(self\.watchdog_timeout|sample_tokens timed out|RPC call to \w+ timed out|shm_broadcast.*No available shared memory broadcast block/i,
    cause: "GPUs of this replica stopped answering each other (collective timed out)",
    hint: "One rank hung or died: read the other shards first. Check NVLink/InfiniBand, NCCL_SOCKET_IFNAME, and Xid errors on every node of the replica.",
  },
  {
    id: "dist_init_timeout",
    category: "crash",
    engines: ["vllm", "sglang"],
    pattern:
      /(?:DistStoreError|DistNetworkError|Timed out after \d+ seconds waiting for clients|client socket has timed out|TCPStore.{0,80}(?:timeout|timed out)|failed to connect to (?:all addresses|server|TCPStore)|Connection(?: was)? refused.*(?:master|store|init)|Wait timeout after \d+ms|waiting for core engine (?:proc|startup))/i,
    cause: "The shards of this replica could not find each other at start",
    hint: "Check that the master address and port are reachable from every node (firewall, wrong interface: VLLM_HOST_IP / --dist-init-addr) and that every shard started.",
  },
  {
    id: "nccl_error",
    category: "crash",
    engines: ["vllm", "sglang"],
    pattern:
      /DistBackendError|NCCL error|ncclUnhandledCudaError|ncclSystemError|ncclInternalError|unhandled (?:cuda|system) error|NCCL WARN (?:Call to connect|Failed to)/i,
    cause: "The GPU communication library (NCCL) failed",
    hint: "Set NCCL_DEBUG=INFO for the next start; check the network interface, /dev/shm size and GPU peer access.",
  },
  {
    id: "rpc_unreachable",
    category: "crash",
    engines: ["llamacpp"],
    pattern:
      /Failed to connect to (?:RPC server|\S+:\d+)|Remote RPC server crashed|RPC server .{0,40}(?:unreachable|closed)|rpc.*(?:protocol|version) mismatch/i,
    cause: "A remote rpc-server of this replica does not answer",
    hint: "Check the shard on that node; llama-server and rpc-server must be of the same build.",
  },
  {
    id: "cuda_illegal_access",
    category: "crash",
    engines: null,
    pattern:
      /illegal memory access|misaligned address|device-side assert triggered|CUBLAS_STATUS_(?:EXECUTION_FAILED|INTERNAL_ERROR)|cudaErrorIllegalAddress/i,
    cause: "A GPU kernel crashed",
    hint: "Often an engine bug: restart the replica; if it repeats on one GPU only, suspect the GPU (Xid 13/31), else change engine version or attention backend.",
  },
  {
    id: "host_oom",
    category: "out_of_memory",
    engines: null,
    pattern:
      /oom-kill|Out of memory: Killed process|std::bad_alloc|failed to allocate CPU buffer of size|Cannot allocate memory|MemoryError|died with <Signals\.SIGKILL|exit(?:ed)?(?: with)? code:? -9|killed by signal 9/i,
    cause: "The node ran out of main memory and the process was killed",
    hint: "Free RAM on the node, lower CPU offload or load parallelism.",
  },
  {
    id: "bad_flag",
    category: "bad_configuration",
    engines: null,
    pattern:
      /unrecognized arguments|error: argument --|error: invalid argument|invalid choice|error while handling argument|unknown (?:argument|option)|the following arguments are required/i,
    cause: "The engine rejected a command-line option",
    hint: "Fix the extra arguments of the model, or match them to the engine version.",
  },
  {
    id: "missing_dependency",
    category: "bad_configuration",
    engines: null,
    pattern:
      /ModuleNotFoundError|ImportError|cannot open shared object file|symbol lookup error|command not found|ENOENT/i,
    cause: "The engine is not installed correctly on this node",
    hint: "Reinstall the engine environment; check the configured executable path.",
  },
  {
    id: "peer_lost",
    category: "crash",
    engines: ["vllm", "sglang"],
    pattern:
      /Connection closed by peer|Connection reset by peer|ncclRemoteError|remote process exited|(?:socketProgress|recv).*(?:closed|reset)|HeartbeatMonitor|TCPStore.*recvValue failed|Worker proc .* died unexpectedly|One of the (?:worker|child) processes? (?:died|failed)/i,
    cause: "Another shard or worker of this replica went away; this shard only noticed",
    hint: "This is a consequence: read the log of the other shard.",
  },
  {
    id: "config_invalid",
    category: "bad_configuration",
    engines: ["vllm"],
    pattern: /ValidationError|validation errors? for \w+Config|Value error,/i,
    cause: "The engine rejected its configuration",
    hint: 'The text after "Value error," in the log says what to change.',
  },
  {
    id: "engine_dead",
    category: "crash",
    engines: null,
    pattern:
      /EngineDeadError|EngineCore (?:encountered an issue|failed to start)|Engine core initialization failed|Engine process failed to start|scheduler is dead|SIGQUIT received|exiting due to model loading error|failed to load model|Shard \d+ failed to start|hit an exception|Segmentation fault|core dumped/i,
    cause: "The engine stopped; its first error is further up in the log",
    hint: "Open the full log of the shard; the root cause stands before this line.",
  },
];
