import type { Prisma, PrismaClient } from "./generated/client.ts";

/** The database through Prisma; everything but the listening connection goes through it. */
export type Database = PrismaClient;
/** One open transaction of it. */
export type Tx = Prisma.TransactionClient;
/** Either: what only reads or writes single statements takes both. */
export type Queryable = Database | Tx;
/** A value for a JSON column. */
export type JsonValue = Prisma.InputJsonValue;

/** A JSON column that only this program writes, as the domain type it was written from. */
export function fromJson<T>(value: unknown): T {
  return value as T;
}

/** A domain value for a JSON column. */
export function toJson(value: unknown): JsonValue {
  return value as JsonValue;
}

export function millisecondsOf(date: Date): number {
  return date.getTime();
}

export function millisecondsOrNull(date: Date | null): number | null {
  return date === null ? null : date.getTime();
}

export function dateOrNull(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
