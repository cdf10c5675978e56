import { pino } from "pino";
import { z } from "zod";
import { buildInfo } from "./build-info.ts";
import { prettyDestination } from "./pretty-log.ts";

export type Logger = pino.Logger;
export type LogLevel = z.output<typeof logLevel>;

/** The setting every program has: the least severe level that is written. */
export const logLevel = z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]);

export interface LoggerOptions {
  /** The program, as the field `service`. */
  readonly name: string;
  readonly level: LogLevel;
  /** One readable line a record in place of JSON, for a terminal. */
  readonly pretty?: boolean;
  /** Where lines go; standard output unless given. */
  readonly destination?: { write(line: string): void };
}

/** Fields that hold a credential wherever they stand in a record, down to three levels. */
const SECRET_FIELDS = ["authorization", "Authorization", "cookie", "token", "apiKey", "secret", "password"];
const REDACTED_PATHS = [...SECRET_FIELDS, '["set-cookie"]'].flatMap((field) => {
  const child = field.startsWith("[") ? field : `.${field}`;
  return [field, `*${child}`, `*.*${child}`];
});

/** A JSON logger: ISO time, the level as a word, `service` and `version` on every line, credentials replaced. */
export function createLogger({ name, level, pretty = false, destination }: LoggerOptions): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service: name, version: buildInfo().version },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: pino.stdSerializers.errWithCause, err: pino.stdSerializers.errWithCause },
    redact: { paths: REDACTED_PATHS, censor: "[redacted]" },
  };
  if (pretty) return pino(options, prettyDestination(destination ?? process.stdout));
  return destination === undefined ? pino(options) : pino(options, destination);
}
