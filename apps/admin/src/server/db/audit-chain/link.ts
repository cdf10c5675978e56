import { createHash } from "node:crypto";
import type { Audit } from "../generated/client.ts";

/** What the first row's seal follows. */
export const chainStart = { seq: 0n, hash: Buffer.alloc(32) } as const;

/** A place in the chain: the hash over every row up to this number. */
export interface Link {
  readonly seq: bigint;
  readonly hash: Uint8Array;
}

/** The seal of a row: SHA-256 over the seal before it and everything that the row says. */
export function sealOf(previous: Link, row: Audit): Link {
  const hash = createHash("sha256").update(previous.hash).update(textOf(row)).digest();
  return { seq: row.seq, hash };
}

/** One text for one content: the fields in this order, the keys of JSON values sorted. */
function textOf(row: Audit): string {
  return JSON.stringify([
    ...[String(row.seq), row.at.toISOString(), row.actorKind, row.actor, row.role, row.source],
    ...[row.verb, row.target, sorted(row.before), sorted(row.after), row.reason, row.outcome, row.requestId, row.cause],
  ]);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
