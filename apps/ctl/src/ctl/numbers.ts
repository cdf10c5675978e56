import { parseDuration } from "@llmgw/service";
import { CtlError, exit } from "./exit.ts";

/** A whole number within bounds that a person wrote as `what`, such as `--limit`. */
export function wholeNumber(what: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new CtlError(`${what} is "${text}": expected a whole number from ${min} to ${max}`, exit.usage);
}

/** A duration that a person wrote as `what`, ms. */
export function milliseconds(what: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new CtlError(`${what} is "${text}": expected a duration such as 30s, 15m or 1h30m`, exit.usage);
}
