import type { EngineLog, LogParts, LogSource } from "../openai/engine-log.ts";

/** Lines the way vLLM writes them: logger lines to stdout, progress bars and tracebacks to stderr. */
export function createVllmLog({ pid, stdout, stderr, wallClockMs }: LogParts): EngineLog {
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
