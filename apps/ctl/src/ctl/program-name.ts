import { isClone } from "../up/layout.ts";

/** How a person calls llmgw here: in a clone it is not on PATH, and npx finds it. */
export function programName(): string {
  return isClone() ? "npx llmgw" : "llmgw";
}

/** `1 model`, `2 models`, `0 replicas`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
