import type { CrashCause } from "../../faults/fault.ts";
import type { FailureTail, TailPart } from "../openai/failure-tail.ts";

/** A start that failed by an injected fault. */
export function startFailureTail(cause: CrashCause, model: string): FailureTail {
  return engineStartTail(START_CAUSES[cause](model));
}

/** A start that failed for a reason given in vLLM's words. */
export function engineStartTail(reason: string): FailureTail {
  return [
    { source: "EngineCore", lines: ["EngineCore failed to start.", ...traceback(reason)] },
    {
      source: "APIServer",
      lines: traceback(
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
      ),
    },
  ];
}

/** A refusal of the configuration, before any engine process exists: no line of EngineCore. */
export function configurationTail(detail: string): FailureTail {
  const lines = [
    "pydantic_core._pydantic_core.ValidationError: 1 validation error for VllmConfig",
    detail,
    "    For further information visit https://errors.pydantic.dev/2.12/v/value_error",
  ];
  return [{ source: "APIServer", lines: traceback(...lines) }];
}

/** The port cannot be listened on; the message is the system's. */
export function listenTail(message: string): FailureTail {
  return [{ source: "APIServer", lines: traceback(`OSError: ${message}`) }];
}

/** The nodes of a replica cannot find each other, or have lost each other. */
export function rendezvousTail(
  problem: "timeout" | "unreachable" | "address-in-use" | "peer-lost",
  detail: string | number,
): FailureTail {
  switch (problem) {
    case "timeout":
      return engineStartTail(
        `torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. ${detail} clients joined.`,
      );
    case "unreachable":
      return engineStartTail(
        "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect " +
          `to (${detail}).`,
      );
    case "address-in-use":
      return engineStartTail(
        "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. " +
          `port: ${detail}, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use`,
      );
    case "peer-lost": {
      const noticed = `[rank${detail}]:[W] [PG ID 0] TCPStore.cpp recvValue failed on SocketImpl(fd=68): Connection reset by peer`;
      return [{ source: "EngineCore", lines: [noticed] }, ENGINE_DEAD];
    }
  }
}

/** A running engine that dies. */
export function runtimeCrashTail(): FailureTail {
  const cause = "torch.AcceleratorError: CUDA error: an illegal memory access was encountered";
  return [{ source: "EngineCore", lines: ["EngineCore encountered a fatal error.", ...traceback(cause)] }, ENGINE_DEAD];
}

const ENGINE_DEAD: TailPart = {
  source: "APIServer",
  lines: [
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.",
  ],
};

const START_CAUSES: Readonly<Record<CrashCause, (model: string) => string>> = {
  "gpu-oom": () =>
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of " +
    "79.11 GiB of which 612.56 MiB is free.",
  "host-oom": () =>
    "Out of memory: Killed process 21180 (VLLM::EngineCor), RuntimeError: Worker proc VllmWorker-0 died",
  "gpu-lost": () => "RuntimeError: CUDA error: uncorrectable ECC error encountered",
  "model-not-found": (model) => `OSError: ${model} does not appear to have a file named config.json.`,
  "gpu-memory-busy": () =>
    "ValueError: Free memory on device cuda:0 (3.27/79.11 GiB) on startup is less than desired GPU memory " +
    "utilization (0.9, 71.2 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
};

function traceback(...last: readonly string[]): string[] {
  return [
    "Traceback (most recent call last):",
    '  File "/opt/vllm/engine/core.py", line 812, in run_engine_core',
    "    engine_core = EngineCoreProc(*args, **kwargs)",
    ...last,
  ];
}
