interface LineWriter {
  write(line: string): unknown;
}

interface LogRecord {
  readonly time?: unknown;
  readonly level?: unknown;
  readonly service?: unknown;
  readonly msg?: unknown;
  readonly error?: unknown;
  readonly err?: unknown;
  readonly [field: string]: unknown;
}

/** Fields every record has and the line already shows, or that do not change within a program. */
const SHOWN = new Set(["time", "level", "service", "version", "msg", "error", "err"]);

/** Turns each JSON log record into one line for a person: `12:34:56.789 info  router  message  field=value …`. */
export function prettyDestination(out: LineWriter): { write(line: string): void } {
  return { write: (line) => void out.write(`${prettyLine(line)}\n`) };
}

function prettyLine(line: string): string {
  const record = parse(line);
  if (record === undefined) return line.trimEnd();
  const fields = Object.entries(record).filter(([name]) => !SHOWN.has(name));
  const parts = [
    String(record.time ?? "").slice(11, 23),
    String(record.level ?? "").padEnd(5),
    String(record.service ?? ""),
    String(record.msg ?? ""),
    ...fields.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`),
  ];
  const stack = stackOf(record.error ?? record.err);
  return parts.filter((part) => part !== "").join("  ") + (stack === undefined ? "" : `\n${stack}`);
}

function parse(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined; // not a record: it is shown as it is
  }
}

function stackOf(error: unknown): string | undefined {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null || !("stack" in error)) return undefined;
  return typeof error.stack === "string" ? error.stack : undefined;
}
