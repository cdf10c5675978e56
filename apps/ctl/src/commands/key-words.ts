import type { KeyView } from "@llmgw/api";
import { CtlError, exit } from "../ctl/exit.ts";

/** "600/min, 200000 tokens/min, 8 at a time", or "none". */
export function limitWords({ requestsPerMinute, tokensPerMinute, concurrent }: KeyView["limits"]): string {
  const words = [
    requestsPerMinute === null ? [] : [`${requestsPerMinute}/min`],
    tokensPerMinute === null ? [] : [`${tokensPerMinute} tokens/min`],
    concurrent === null ? [] : [`${concurrent} at a time`],
  ].flat();
  return words.length === 0 ? "none" : words.join(", ");
}

/** A limit as people type it: a whole number from 1, or `none`. */
export function limitOf(flag: string, text: string): number | null {
  if (text === "none") return null;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new CtlError(`${flag} is "${text}": expected a whole number from 1, or none`, exit.usage);
}
