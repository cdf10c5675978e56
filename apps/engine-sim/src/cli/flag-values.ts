import type { FlagValue } from "./parse-flags.ts";

/** Typed reading of parsed flags. Asking for another type than the flag's kind gives is a bug and throws. */
export interface FlagValues {
  string(name: string): string | undefined;
  number(name: string): number | undefined;
  boolean(name: string): boolean | undefined;
  list(name: string): readonly string[] | undefined;
}

export function flagValues(values: ReadonlyMap<string, FlagValue>): FlagValues {
  const wrong = (name: string, wanted: string): Error => new Error(`flag ${name} was not declared as a ${wanted}`);
  return {
    string(name) {
      const value = values.get(name);
      if (value !== undefined && typeof value !== "string") {
        throw wrong(name, "string");
      }
      return value;
    },
    number(name) {
      const value = values.get(name);
      if (value !== undefined && typeof value !== "number") {
        throw wrong(name, "number");
      }
      return value;
    },
    boolean(name) {
      const value = values.get(name);
      if (value !== undefined && typeof value !== "boolean") {
        throw wrong(name, "switch");
      }
      return value;
    },
    list(name) {
      const value = values.get(name);
      if (value !== undefined && (typeof value === "string" || typeof value !== "object")) {
        throw wrong(name, "list");
      }
      return value;
    },
  };
}
