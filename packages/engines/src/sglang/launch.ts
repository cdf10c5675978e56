import type { LaunchLine, LaunchRequest } from "../adapter.ts";
import { gpuVariables } from "../launch/gpu-variables.ts";
import { withoutFlags } from "../launch/own-words.ts";

/**
 * Flags that make the process the shard it is. SGLang takes one `--config`, and ours holds the replica's key, so an
 * operator's own is dropped too.
 */
const identityFlags = [
  ...["--host", "--port", "--served-model-name", "--api-key", "--config", "--tp-size", "--tp"],
  ...["--tensor-parallel-size", "--pp-size", "--pp", "--pipeline-parallel-size", "--nnodes", "--node-rank"],
  ...["--dist-init-addr", "--nccl-init-addr", "--enable-metrics"],
];

/**
 * `sglang serve`, the same line on every machine of a replica but for rank and address. Facts: sglang's
 * server_args.py and docs/advanced_features/server_arguments.md. Without `--enable-metrics` there is no metrics page,
 * hence no proof that the engine is idle. SGLang reads its key from no variable, but from a YAML file.
 */
export function launchSglang(request: LaunchRequest): LaunchLine {
  const config = `${request.privateDir}/sglang.yaml`;
  return {
    argv: [
      "sglang",
      "serve",
      ...["--model-path", request.model],
      ...["--host", request.host, "--port", String(request.port)],
      ...["--served-model-name", request.modelId],
      ...["--tp-size", String(request.tp)],
      ...(request.pp === 1 ? [] : ["--pp-size", String(request.pp)]),
      ...(request.contextTokens === null ? [] : ["--context-length", String(request.contextTokens)]),
      ...groupArgs(request),
      "--enable-metrics",
      ...["--config", config],
      ...withoutFlags(request.extraArgs, identityFlags),
    ],
    env: gpuVariables(request.gpus, "uuid"),
    files: [{ path: config, text: `api-key: ${JSON.stringify(request.apiKey)}\n` }],
    startsAfter: [],
  };
}

function groupArgs({ group }: LaunchRequest): string[] {
  const head = group?.ranks[0];
  if (group === null || head === undefined) return [];
  const host = head.address.includes(":") ? `[${head.address}]` : head.address;
  return [
    ...["--nnodes", String(group.ranks.length), "--node-rank", String(group.rank)],
    ...["--dist-init-addr", `${host}:${head.port}`],
  ];
}
