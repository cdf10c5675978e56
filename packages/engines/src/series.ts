import { first, readSamples, sum } from "./samples.ts";

/**
 * The sum of a metric over all its series on an engine's page, by the first of several names that stands there. Null
 * when none does, or when one number of it is no count.
 *
 * @param engine what the names begin with, before `:` or Ray's `_`
 */
export function seriesTotal(text: string, engine: string, names: readonly string[]): number | null {
  return sum(first(readSamples(text, engine, new Set(names)), names));
}
