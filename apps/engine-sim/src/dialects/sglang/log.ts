import type { EngineLog, LogParts, LogSource } from "../openai/engine-log.ts";

/** Lines the way SGLang writes them, all to stderr: `[2026-11-30 10:00:00 TP0] …`. */
export function createSglangLog({ stderr, wallClockMs }: LogParts): EngineLog {
  const line = (source: LogSource, message: string) =>
    stderr(`[${stamp(wallClockMs())}${source === "EngineCore" ? " TP0" : ""}] ${message}\n`);
  return {
    info: (source, _where, message) => line(source, message),
    error: (source, _where, message) => line(source, message),
    uvicorn: (message) => line("APIServer", `INFO:     ${message}`),
    progress: (message) => stderr(`\r${message}\n`),
    failure(tail) {
      for (const { source, lines } of tail) {
        for (const each of lines) {
          line(source, each);
        }
      }
    },
  };
}

/** "2026-11-30 23:47:15" */
function stamp(wallClockMs: number): string {
  return new Date(wallClockMs).toISOString().slice(0, 19).replace("T", " ");
}
