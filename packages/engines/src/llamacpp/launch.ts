import type { LaunchLine, LaunchRequest } from "../adapter.ts";
import { gpuVariables } from "../launch/gpu-variables.ts";
import { flagValue, withoutFlags } from "../launch/own-words.ts";

const identityFlags = [
  ...["--host", "--port", "-a", "--alias", "--api-key", "--api-key-file", "-m", "--model", "-hf", "--hf-repo"],
  ...["--rpc", "--metrics"],
];
/** Requests at once when the operator does not say: llama-server's own number when it chooses. */
const defaultSlots = 4;
/** More layers than any model has. Versions differ in the words for "all". */
const everyLayer = "999";

/** `llama-server`, and on the other machines of a replica the RPC workers that hold a part of its layers. */
export function launchLlamacpp(request: LaunchRequest): LaunchLine {
  return request.group === null || request.group.rank === 0 ? launchServer(request) : launchWorker(request);
}

/**
 * Facts: tools/server/README.md of llama.cpp. `-fit off`: the placement has decided what fits, and a plan that the engine
 * shrinks in silence is another plan. `-c` is what all slots share, so each gets the context that was asked for; with
 * `-np` given, slots do not share one cache, of which a single long answer would end all others. Loading from an RPC
 * worker that does not listen yet is a crash, so the workers come first.
 */
function launchServer(request: LaunchRequest): LaunchLine {
  const workers = request.group?.ranks.slice(1) ?? [];
  const slots = flagValue(request.extraArgs, ["-np", "--parallel"]);
  const context = request.contextTokens;
  return {
    argv: [
      "llama-server",
      ...(request.isPath ? ["-m", request.model] : ["-hf", request.model]),
      ...["--host", request.host, "--port", String(request.port)],
      ...["-a", request.modelId],
      "--metrics",
      ...["-fit", "off"],
      ...["-ngl", request.gpus.length === 0 && workers.length === 0 ? "0" : everyLayer],
      ...(context === null ? [] : ["-c", String(context * (Number(slots ?? defaultSlots) || defaultSlots))]),
      ...(context === null || slots !== undefined ? [] : ["-np", String(defaultSlots)]),
      ...(workers.length === 0 ? [] : ["--rpc", workers.map(({ address, port }) => `${address}:${port}`).join(",")]),
      ...withoutFlags(request.extraArgs, identityFlags),
    ],
    env: {
      LLAMA_API_KEY: request.apiKey,
      // A backtrace after a lost worker takes half a second in which /health says 200, and buries the cause in the log.
      GGML_NO_BACKTRACE: "1",
      ...gpuVariables(request.gpus, "uuid"),
    },
    files: [],
    startsAfter: workers.map(({ address, port }) => ({ host: address, port })),
  };
}

/**
 * Facts: tools/rpc/README.md. A worker has no authentication and serves one head: it listens on the advertised address
 * only, on a port of its group's own. An operator's arguments are for the server, not for it.
 */
function launchWorker({ group, host, gpus }: LaunchRequest): LaunchLine {
  const port = group?.ranks[group.rank]?.port;
  if (port === undefined) throw new Error("a worker has a place in its group");
  return {
    argv: ["ggml-rpc-server", "-H", host, "-p", String(port)],
    otherProgram: "rpc-server",
    env: { GGML_NO_BACKTRACE: "1", ...gpuVariables(gpus, "uuid") },
    files: [],
    startsAfter: [],
  };
}
