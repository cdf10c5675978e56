import { TRPCError } from "@trpc/server";
import type { Refusal } from "./outcome.ts";

const codes = {
  not_found: "NOT_FOUND",
  invalid: "BAD_REQUEST",
  conflict: "CONFLICT",
  forbidden: "FORBIDDEN",
  stale_plan: "PRECONDITION_FAILED",
  unavailable: "SERVICE_UNAVAILABLE",
} as const satisfies Record<Refusal["kind"], TRPCError["code"]>;

/** The one place where a refusal becomes a tRPC error. */
export function toTrpcError(refusal: Refusal): TRPCError {
  const cause = Object.assign(
    new Error(refusal.message),
    refusal.kind === "stale_plan" ? { fresh: refusal.fresh } : {},
  );
  return new TRPCError({ code: codes[refusal.kind], message: refusal.message, cause });
}
