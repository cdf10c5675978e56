import type { EngineName, FailureCategory, GpuVendor } from "@llmgw/domain";

/** One engine process to start: what the operator asked for, and where the agent has put it. */
export interface LaunchRequest {
  readonly modelId: string;
  readonly aliases: readonly string[];
  /** The weights: a hub repository (`isPath` false) or a path on this machine. */
  readonly model: string;
  readonly isPath: boolean;
  /** The operator's own arguments, after ours, so that they win except over the ones that identify the shard. */
  readonly extraArgs: readonly string[];
  readonly apiKey: string;
  readonly host: string;
  readonly port: number;
  /** Tensor-parallel size, and pipeline stages of the whole replica. */
  readonly tp: number;
  readonly pp: number;
  /** Its place among the processes of its replica; null when it is the only one. */
  readonly group: LaunchGroup | null;
  readonly contextTokens: number | null;
  readonly memoryMibPerGpu: number;
  readonly gpus: readonly LaunchGpu[];
  /** A folder of this start that only its user can read, for files that the engine is pointed to. */
  readonly privateDir: string;
}

/** The processes of a replica that spans machines. */
interface LaunchGroup {
  readonly rank: number;
  /** Where each rank is reached by the others; `port` is the first of ten that are the group's there. */
  readonly ranks: readonly { readonly address: string; readonly port: number }[];
}

/** A GPU given to the process; its index as the driver numbers it (PCI order) at this moment. */
export interface LaunchGpu {
  readonly uuid: string;
  readonly index: number;
  readonly vendor: GpuVendor;
}

/** What to spawn. `env` is added to a clean environment and wins over the operator's variables of the same name. */
export interface LaunchLine {
  readonly argv: readonly [program: string, ...args: string[]];
  /** Another name of the same program, tried when the first is not on PATH. */
  readonly otherProgram?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Written before the start, readable for this user only. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Addresses that have to accept connections before the process may start. */
  readonly startsAfter: readonly { readonly host: string; readonly port: number }[];
}

/**
 * How a started process shows that it is ready: `http`, `healthPath` answers 200 and `modelsPath` lists the model, and
 * from then on `alivePath` is asked; `listens`, its group port takes connections; `runs`, it has no listener at all, so
 * that it lives is all there is, and rank 0 answers for the group.
 */
export type Readiness =
  | {
      readonly kind: "http";
      readonly healthPath: string;
      readonly alivePath: string;
      readonly modelsPath: string;
    }
  | { readonly kind: "listens" }
  | { readonly kind: "runs" };

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
  /**
   * A number that is another one after each step the engine computes; null when the page has none. One that stands
   * still while requests run is the only sign that some engines give of being stuck.
   */
  readonly steps: number | null;
}

/** Everything that is particular to one inference engine. Pure: the agent does the I/O. */
export interface EngineAdapter {
  readonly name: EngineName;
  /** The program to look for on PATH, and how to ask its version; null when it comes with the agent. */
  readonly program: { readonly name: string; readonly versionArgs: readonly string[] } | null;
  launch(request: LaunchRequest): LaunchLine;
  readiness(rank: number): Readiness;
  readonly metricsPath: string;
  /** What a log line says about loading, or null. */
  progress(line: string): LoadProgress | null;
  classifyExit(exit: EngineExit): ExitVerdict;
  /** All the work the engine holds, from its metrics page; null unless both numbers stand there. The proof that it is idle. */
  work(text: string): EngineWork | null;
}
