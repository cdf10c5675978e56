import type { Reason } from "../reasons/reason.ts";

/** Parameters that change from one look to the next without anything having happened. */
const fluctuating: ReadonlySet<string> = new Set([
  "silentMs",
  "forMs",
  "freeMib",
  "inflight",
  "message",
  "running",
  "waiting",
]);

/** Do two reasons say the same, apart from numbers that only fluctuate. */
export function sameReason(a: Reason | null, b: Reason | null): boolean {
  return a === b || (a !== null && b !== null && stableKey(a) === stableKey(b));
}

function stableKey({ code, params }: Reason): string {
  const entries = Object.entries(params as Readonly<Record<string, unknown>>);
  // The nearest candidate's sentence repeats its reason, with the numbers in it.
  const nested = entries.some(([name, value]) => name === "nearestReason" && value !== undefined);
  const parts = entries
    .filter(([name, value]) => value !== undefined && !fluctuating.has(name) && !(nested && name === "nearest"))
    .map(([name, value]) => `${name}=${isReason(value) ? stableKey(value) : String(value)}`);
  return `${code}(${parts.sort().join(";")})`;
}

function isReason(value: unknown): value is Reason {
  return typeof value === "object" && value !== null && "code" in value && "params" in value;
}
