import type { EngineName, FailureCategory } from "@llmgw/domain";
import type { EngineMetrics } from "./vllm/metrics.ts";

/** One engine process to start: what the operator asked for, and where the agent has put it. */
export interface LaunchRequest {
  readonly modelId: string;
  readonly aliases: readonly string[];
  /** The weights: a hub repository or a path on this machine. */
  readonly model: string;
  /** The operator's own arguments, after ours, so that they win except over the ones that identify the shard. */
  readonly extraArgs: readonly string[];
  readonly apiKey: string;
  readonly host: string;
  readonly port: number;
  /** Tensor-parallel size: the GPUs of this process. */
  readonly tp: number;
  readonly contextTokens: number | null;
  readonly memoryMibPerGpu: number;
  readonly gpus: readonly LaunchGpu[];
}

/** A GPU given to the process; its index as the driver numbers it (PCI order) at this moment. */
export interface LaunchGpu {
  readonly uuid: string;
  readonly index: number;
}

/** What to spawn. `env` is added to a clean environment and wins over the operator's variables of the same name. */
export interface LaunchLine {
  readonly argv: readonly [program: string, ...args: string[]];
  readonly env: Readonly<Record<string, string>>;
}

/** Where a started engine says that it can answer: `healthPath` answers 200 and `modelsPath` lists the model. */
export interface ReadinessProbe {
  readonly healthPath: string;
  readonly modelsPath: string;
}

export interface LoadProgress {
  /** 0..1, where the whole way to ready is 1; null when the line only says what it is doing. */
  readonly ratio: number | null;
  readonly message: string;
}

/** How a process ended. `code` and `signal` are both null when nobody could wait for it. */
export interface EngineExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of its log, oldest line first, without ANSI codes. */
  readonly logTail: readonly string[];
  /** It was told to stop. */
  readonly asked: boolean;
}

export interface ExitVerdict {
  readonly category: FailureCategory;
  /** The first real error, in a sentence with the log's own line. */
  readonly cause: string;
  /** What an operator can do about it. */
  readonly hint: string | null;
}

/** Requests an engine has taken and not finished. */
export interface EngineWork {
  readonly running: number;
  readonly waiting: number;
}

/** Everything that is particular to one inference engine. Pure: the agent does the I/O. */
export interface EngineAdapter {
  readonly name: EngineName;
  /** The program to look for on PATH, and how to ask its version; null when it comes with the agent. */
  readonly program: { readonly name: string; readonly versionArgs: readonly string[] } | null;
  launch(request: LaunchRequest): LaunchLine;
  readonly readiness: ReadinessProbe;
  readonly metricsPath: string;
  /** What a log line says about loading, or null. */
  progress(line: string): LoadProgress | null;
  classifyExit(exit: EngineExit): ExitVerdict;
  /** The engine's own counts from its metrics page, or null when the page holds none of them. */
  metrics(text: string): EngineMetrics | null;
  /** All the work the engine holds, from the same page; null unless both numbers stand there. The proof that it is idle. */
  work(text: string): EngineWork | null;
}
