import type { CrashCause } from "../../faults/fault.ts";

type ErrorLine = readonly [component: string, message: string];

/** The error lines of a start that fails: the cause first, then the wrappers that end every such log. */
export function startFailure(cause: CrashCause, model: string): readonly ErrorLine[] {
  return [
    CAUSES[cause](model),
    ["cmn  common_init_", `failed to load model '${model}'`],
    ["srv    load_model", `failed to load model, '${model}'`],
  ];
}

const CAUSES: Readonly<Record<CrashCause, (model: string) => ErrorLine>> = {
  "gpu-oom": () => [
    "ggml_backend_cuda_buffer_type_alloc_buffer",
    "allocating 11736.00 MiB on device 0: cudaMalloc failed: out of memory",
  ],
  "host-oom": () => ["alloc_tensor_range", "failed to allocate CPU buffer of size 49152000000"],
  "gpu-lost": () => ["ggml_cuda_error", "CUDA error: uncorrectable ECC error encountered"],
  "model-not-found": (model) => [
    "gguf_init_from_file",
    `failed to open GGUF file '${model}' (No such file or directory)`,
  ],
  "gpu-memory-busy": () => ["llama_model_load", "error loading model: unable to allocate CUDA0 buffer"],
};
