import type { CrashCause } from "../../faults/fault.ts";

/** Last lines of a vLLM that dies: the real cause first, then the wrappers that usually hide it. */
export function startFailureTail(cause: CrashCause, model: string): string {
  return engineTraceback(START_CAUSES[cause](model)) + API_SERVER_WRAPPER;
}

/** A refusal of the configuration, before any engine process exists. */
export function configurationTail(detail: string): string {
  return traceback(
    "pydantic_core._pydantic_core.ValidationError: 1 validation error for VllmConfig\n" +
      `${detail}\n    For further information visit https://errors.pydantic.dev/2.12/v/value_error`,
  );
}

/** A start that failed for a reason given in vLLM's words. */
export function engineStartTail(reason: string): string {
  return engineTraceback(reason) + API_SERVER_WRAPPER;
}

export function addressInUseTail(): string {
  return traceback("OSError: [Errno 98] Address already in use");
}

/** Last lines when the nodes of a replica cannot find each other, or have lost each other. */
export function rendezvousTail(
  problem: "timeout" | "unreachable" | "address-in-use" | "peer-lost",
  detail: string | number,
): string {
  switch (problem) {
    case "timeout":
      return engineStartTail(
        `torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. ${detail} clients joined.`,
      );
    case "unreachable":
      return engineStartTail(
        "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to " +
          `(${detail}).`,
      );
    case "address-in-use":
      return engineStartTail(
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. " +
          `port: ${detail}, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use`,
      );
    case "peer-lost":
      return (
        `[rank${detail}]:[W] [PG ID 0] TCPStore.cpp recvValue failed on SocketImpl(fd=68): Connection reset by peer\n` +
        "EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n"
      );
  }
}

/** A running engine that dies. */
export const RUNTIME_CRASH_TAIL =
  engineTraceback("torch.AcceleratorError: CUDA error: an illegal memory access was encountered") +
  traceback(
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. " +
      "See stack trace (above) for the root cause.",
  );

const API_SERVER_WRAPPER = traceback(
  "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
);

const START_CAUSES: Readonly<Record<CrashCause, (model: string) => string>> = {
  "gpu-oom": () =>
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of " +
    "79.11 GiB of which 612.56 MiB is free.",
  "gpu-lost": () => "RuntimeError: CUDA error: uncorrectable ECC error encountered",
  "model-not-found": (model) => `OSError: ${model} does not appear to have a file named config.json.`,
  "gpu-memory-busy": () =>
    "ValueError: Free memory on device cuda:0 (3.27/79.11 GiB) on startup is less than desired GPU memory " +
    "utilization (0.9, 71.2 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
};

function engineTraceback(last: string): string {
  return `EngineCore failed to start.\n${traceback(last)}`;
}

function traceback(last: string): string {
  return `Traceback (most recent call last):\n  File "/opt/vllm/engine/core.py", line 812, in run_engine_core\n${last}\n`;
}
