import type { FailureTail } from "./failure-tails.ts";

/** Lines the way vLLM writes them: logger lines to stdout, progress bars and tracebacks to stderr. */
export interface VllmLog {
  info(source: LogSource, where: string, message: string): void;
  error(source: LogSource, where: string, message: string): void;
  /** uvicorn's own lines carry no time. */
  uvicorn(message: string): void;
  /** One state of a progress bar. vLLM's shard bar ends each state with a newline. */
  progress(message: string): void;
  /** The last lines of a process that dies, to stderr: the engine's through its logger, the server's bare. */
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

export function createVllmLog({ pid, stdout, stderr, wallClockMs }: LogParts): VllmLog {
  const line = (source: LogSource, level: string, rest: string) =>
    stdout(`(${source} pid=${pid}) ${level} ${stamp(wallClockMs())} ${rest}\n`);
  return {
    info: (source, where, message) => line(source, "INFO", `[${where}] ${message}`),
    error: (source, where, message) => line(source, "ERROR", `[${where}] ${message}`),
    uvicorn: (message) => stdout(`(APIServer pid=${pid}) INFO:     ${message}\n`),
    progress: (message) => stderr(`(EngineCore pid=${pid}) \r${message}\n`),
    failure(tail) {
      for (const { source, lines } of tail) {
        const level = source === "EngineCore" ? `ERROR ${stamp(wallClockMs())} [core.py:936] ` : "";
        stderr(lines.map((each) => `(${source} pid=${pid}) ${level}${each}\n`).join(""));
      }
    },
  };
}

/** "11-30 23:47:15", as vLLM's formatter writes it. */
function stamp(wallClockMs: number): string {
  const iso = new Date(wallClockMs).toISOString();
  return `${iso.slice(5, 10)} ${iso.slice(11, 19)}`;
}
