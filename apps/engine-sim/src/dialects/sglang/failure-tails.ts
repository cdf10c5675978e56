import type { CrashCause } from "../../faults/fault.ts";
import type { RendezvousProblem } from "../openai/dialect.ts";
import type { FailureTail } from "../openai/failure-tail.ts";

/** Last lines of an SGLang whose scheduler dies: the cause in its traceback, then the wrappers of its parent. */
export function schedulerTail(reason: string): FailureTail {
  return [
    {
      source: "EngineCore",
      lines: [
        "Scheduler hit an exception: Traceback (most recent call last):",
        '  File "/opt/sglang/srt/managers/scheduler.py", line 2890, in run_scheduler_process',
        reason,
      ],
    },
    { source: "APIServer", lines: ["Received sigquit from a child process. It usually means the child failed."] },
  ];
}

export function sglangStartFailure(cause: CrashCause, model: string): FailureTail {
  return schedulerTail(START_CAUSES[cause](model));
}

export function sglangRendezvousFailure(problem: RendezvousProblem, detail: string | number): FailureTail {
  switch (problem) {
    case "timeout":
      return schedulerTail(
        `torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. ${detail} clients joined.`,
      );
    case "unreachable":
      return schedulerTail(
        `torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (${detail}).`,
      );
    case "address-in-use":
      return schedulerTail(
        `torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: ${detail}, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use`,
      );
    case "peer-lost":
      return schedulerTail(
        `[rank${detail}]:[W] [PG ID 0] TCPStore.cpp recvValue failed on SocketImpl(fd=68): Connection reset by peer`,
      );
  }
}

const START_CAUSES: Readonly<Record<CrashCause, (model: string) => string>> = {
  "gpu-oom": () =>
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 79.11 GiB of which 612.56 MiB is free.",
  "host-oom": () => "Out of memory: Killed process 21180 (sglang::schedul)",
  "gpu-lost": () => "RuntimeError: CUDA error: uncorrectable ECC error encountered",
  "model-not-found": (model) => `OSError: ${model} does not appear to have a file named config.json.`,
  "gpu-memory-busy": () =>
    "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static. Current value: mem_fraction_static=0.85",
};
