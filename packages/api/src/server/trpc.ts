import { initTRPC, TRPCError } from "@trpc/server";
import { z } from "zod";
import { type ProcedurePath, permissions, permits } from "../permissions.ts";
import type { Actor, ControlPlane } from "./control-plane.ts";
import { toTrpcError } from "./errors.ts";
import type { Outcome } from "./outcome.ts";

/** What each call gets: the use-cases, who calls, and a signal that aborts when the caller leaves. */
export interface Context {
  readonly control: ControlPlane;
  readonly actor: Actor;
  readonly signal: AbortSignal;
}

const t = initTRPC.context<Context>().create({
  isDev: false,
  errorFormatter({ shape, error, ctx }) {
    const cause = error.cause;
    const fresh = cause !== undefined && "fresh" in cause ? cause.fresh : undefined;
    const hidden = error.code === "INTERNAL_SERVER_ERROR";
    return {
      ...shape,
      message: hidden
        ? `The admin failed to answer (request ${ctx?.actor.requestId ?? "unknown"}); its log says why.`
        : shape.message,
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        path: shape.data.path,
        requestId: ctx?.actor.requestId,
        fresh,
      },
    };
  },
});

export const router = t.router;

/**
 * A procedure whose permission is looked up by its own path; a path without one is refused and fails the tests. What a
 * person or a script tried to change and could not is recorded too.
 */
export const procedure = t.procedure.use(async ({ ctx, path, type, getRawInput, next }) => {
  const needed = permissions[path as ProcedurePath];
  if (ctx.actor.permission === null) {
    throw new TRPCError({
      code: "UNAUTHORIZED",
      message: "This call needs a credential. Send `Authorization: Bearer <token>`, or sign in with the dashboard.",
    });
  }
  if (needed === undefined || !permits(ctx.actor.permission, needed)) {
    await ctx.control.audit.refused(ctx.actor, {
      verb: path,
      target: targetOf(await getRawInput()),
      outcome: "denied",
    });
    throw new TRPCError({
      code: "FORBIDDEN",
      message: `${path} needs ${needed ?? "a permission that does not exist"}; ${ctx.actor.name} has ${ctx.actor.permission}.`,
    });
  }
  const result = await next();
  if (!result.ok && type === "mutation" && (ctx.actor.kind === "user" || ctx.actor.kind === "token")) {
    const { message } = result.error;
    const target = targetOf(await getRawInput());
    await ctx.control.audit.refused(ctx.actor, { verb: path, target, outcome: "failed", message });
  }
  return result;
});

const named = z.object({
  node: z.string().optional(),
  model: z.string().optional(),
  replica: z.string().optional(),
  drain: z.string().optional(),
  key: z.string().optional(),
  id: z.string().optional(),
});

/** What a call is about, as far as its input, which may be anything, says so. */
function targetOf(input: unknown): string | null {
  const { data } = named.safeParse(input);
  const target = data?.node ?? data?.replica ?? data?.drain ?? data?.model ?? data?.key ?? data?.id;
  return target !== undefined && /^[\w.:/-]{1,128}$/.test(target) ? target : null;
}

/** The value of an outcome; a refusal becomes the tRPC error of the one mapping table. */
export function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw toTrpcError(outcome.refusal);
}
