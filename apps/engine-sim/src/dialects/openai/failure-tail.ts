import type { LogSource } from "./engine-log.ts";

/** Last lines of an engine that dies: the real cause first, then the wrappers that usually hide it. */
export type FailureTail = readonly TailPart[];

export interface TailPart {
  readonly source: LogSource;
  readonly lines: readonly string[];
}
