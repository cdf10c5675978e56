import type { FailureTail } from "./failure-tail.ts";

/** Lines the way an engine writes them. */
export interface EngineLog {
  info(source: LogSource, where: string, message: string): void;
  error(source: LogSource, where: string, message: string): void;
  /** uvicorn's own lines carry no time. */
  uvicorn(message: string): void;
  /** One state of a progress bar. */
  progress(message: string): void;
  /** The last lines of a process that dies, to stderr: in the order given. */
  failure(tail: FailureTail): void;
}

export type LogSource = "APIServer" | "EngineCore";

export interface LogParts {
  readonly pid: number;
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Wall clock, milliseconds since 1970, for the time stamp of lines. */
  readonly wallClockMs: () => number;
}
