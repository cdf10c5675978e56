import type { LaunchLine, LaunchRequest } from "../adapter.ts";

/** Flags that make the process the shard it is: an operator's value for them would break routing, so it is dropped. */
const identityFlags = ["--host", "--port", "--served-model-name", "--api-key", "--tensor-parallel-size", "-tp"];

/**
 * The words after `vllm`: `serve MODEL …`, ours first and the operator's after them (argparse takes the last value).
 * Facts: `vllm serve --help`; the access log of `/metrics` would fill the log file with our own scrapes.
 */
export function vllmServeArgs(request: LaunchRequest): string[] {
  return [
    "serve",
    request.model,
    "--host",
    request.host,
    "--port",
    String(request.port),
    "--served-model-name",
    request.modelId,
    ...request.aliases,
    "--tensor-parallel-size",
    String(request.tp),
    ...(request.contextTokens === null ? [] : ["--max-model-len", String(request.contextTokens)]),
    ...withoutIdentity(request.extraArgs),
  ];
}

/** `vllm serve` of one node. The replica's key goes by environment: an argument would be readable by every local user. */
export function launchVllm(request: LaunchRequest): LaunchLine {
  return {
    argv: ["vllm", ...vllmServeArgs(request)],
    env: {
      VLLM_API_KEY: request.apiKey,
      VLLM_HOST_IP: request.host,
      // CUDA orders "fastest first" by default; ours is the driver's order. vLLM reads each entry as a number, so
      // these are indices and not UUIDs.
      CUDA_DEVICE_ORDER: "PCI_BUS_ID",
      CUDA_VISIBLE_DEVICES: request.gpus.map((gpu) => gpu.index).join(","),
    },
  };
}

/** Drops the flags that identify the shard, with their values, from an operator's arguments. */
function withoutIdentity(args: readonly string[]): string[] {
  const kept: string[] = [];
  let dropping = false;
  for (const word of args) {
    const isFlag = word.startsWith("-") && !/^-\d/.test(word);
    if (isFlag) dropping = identityFlags.some((flag) => word === flag || word.startsWith(`${flag}=`));
    if (!dropping) kept.push(word);
  }
  return kept;
}
