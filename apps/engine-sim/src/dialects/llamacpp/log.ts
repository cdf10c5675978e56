/** Lines the way llama.cpp writes them, all to stderr: time since the start, level, component, message. */
export interface LlamaLog {
  info(component: string, message: string): void;
  warn(component: string, message: string): void;
  error(component: string, message: string): void;
  /** A line of ggml's own, without a head. */
  bare(message: string): void;
}

export function createLlamaLog(stderr: (text: string) => void, monotonicMs: () => number): LlamaLog {
  const startedMs = monotonicMs();
  const line = (level: string, component: string, message: string) =>
    stderr(`${stamp(monotonicMs() - startedMs)} ${level} ${component}: ${message}\n`);
  return {
    info: (component, message) => line("I", component, message),
    warn: (component, message) => line("W", component, message),
    error: (component, message) => line("E", component, message),
    bare: (message) => stderr(`${message}\n`),
  };
}

/** `0.02.701.625`: minutes, seconds, milliseconds, microseconds. */
function stamp(ms: number): string {
  const pad = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, "0");
  return `${Math.floor(ms / 60_000)}.${pad((ms / 1000) % 60, 2)}.${pad(ms % 1000, 3)}.${pad((ms * 1000) % 1000, 3)}`;
}
