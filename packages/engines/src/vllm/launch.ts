import type { LaunchLine, LaunchRequest } from "../adapter.ts";
import { gpuVariables } from "../launch/gpu-variables.ts";
import { withoutFlags } from "../launch/own-words.ts";

/** Flags that make the process the shard it is: an operator's value for them would break routing, so it is dropped. */
const identityFlags = [
  ...["--host", "--port", "--served-model-name", "--api-key", "--tensor-parallel-size", "-tp"],
  ...["--pipeline-parallel-size", "-pp", "--nnodes", "-n", "--node-rank", "-r", "--master-addr", "--master-port"],
  ...["--headless", "--distributed-executor-backend"],
];

/**
 * `vllm serve`, ours first and the operator's after it (argparse takes the last value). Facts: `vllm serve --help`;
 * docs.vllm.ai, parallelism and scaling. Several machines need a vLLM that has `--nnodes` (0.12 or newer): each process
 * gets the same sizes and its rank, all but rank 0 are headless, and the processes of one machine are vLLM's own.
 *
 * vLLM shuts down with `--shutdown-timeout 0` by default, which aborts what is in flight; it is told to stop only once
 * it is idle. The replica's key goes by environment: an argument would be readable by every local user.
 */
export function launchVllm(request: LaunchRequest): LaunchLine {
  const { group } = request;
  const isHead = group === null || group.rank === 0;
  const args = [
    "serve",
    request.model,
    ...(isHead ? ["--host", request.host, "--port", String(request.port)] : []),
    "--served-model-name",
    request.modelId,
    ...request.aliases,
    "--tensor-parallel-size",
    String(request.tp),
    ...(request.pp === 1 ? [] : ["--pipeline-parallel-size", String(request.pp)]),
    ...(request.contextTokens === null ? [] : ["--max-model-len", String(request.contextTokens)]),
    ...groupArgs(request),
    // Each look at its counts would be a line in its log.
    ...(isHead ? ["--disable-access-log-for-endpoints", "/metrics,/health"] : []),
    ...withoutFlags(request.extraArgs, identityFlags),
  ];
  return {
    argv: ["vllm", ...args],
    env: { VLLM_API_KEY: request.apiKey, VLLM_HOST_IP: request.host, ...gpuVariables(request.gpus, "index") },
    files: [],
    startsAfter: [],
  };
}

function groupArgs({ group }: LaunchRequest): string[] {
  const head = group?.ranks[0];
  if (group === null || head === undefined) return [];
  return [
    ...["--nnodes", String(group.ranks.length), "--node-rank", String(group.rank)],
    ...["--master-addr", head.address, "--master-port", String(head.port)],
    ...["--distributed-executor-backend", "mp"],
    ...(group.rank === 0 ? [] : ["--headless"]),
  ];
}
