/**
 * A number that a machine was asked for. `unsupported`: the device has no such thing. `unreadable`: it should have,
 * and the answer could not be read. An unknown is never 0.
 */
export type Reading = number | "unsupported" | "unreadable";

/** The number of a reading, or null where there is none. */
export function readingOrNull(reading: Reading): number | null {
  return typeof reading === "number" ? reading : null;
}
