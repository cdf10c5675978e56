/** One place of a JSON value that is on one side only, or differs. */
export interface Difference {
  /** `spec.resources.tp`; empty for the whole value. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** What differs between two JSON values, place by place, in the order in which the places are met. Lists are one place. */
export function differences(before: unknown, after: unknown, path = ""): readonly Difference[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => differences(before[key], after[key], path === "" ? key : `${path}.${key}`));
  }
  // A row that makes or removes a thing has nothing on the other side: each of its places is one of the difference.
  if (isRecord(after) && isNothing(before)) return differences({}, after, path);
  if (isRecord(before) && isNothing(after)) return differences(before, {}, path);
  return isSame(before, after) ? [] : [{ path, before: before ?? null, after: after ?? null }];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return (isNothing(one) && isNothing(other)) || JSON.stringify(one) === JSON.stringify(other);
}
